"""Every write over REST checks its Idempotency-Key: the key of another call writes nothing."""

from typing import Any

import pytest

from ctxhub.core.kit import clock
from ctxhub.core.models import Project, StoredAnswer
from tests.addresses import Operation, operations
from tests.hub import RestClient
from tests.tables import dump_written

NAMES = {"key": "k", "name": "incident", "context": "general", "tool": "decision", "action": "set"}
# The query that an operation needs beside the example of its body.
QUERIES = {"DELETE memories/<id:memory_id>/relationships/": "?target=decision:k"}
BODY = {"key": "k", "value": 1}
BODIES = {"POST call/<str:tool>/": BODY, "POST call/<str:tool>/<str:action>/": BODY}
READS = ["POST search/", "POST check/"]
WRITES = [
    operation for operation in operations("POST", "PUT", "PATCH", "DELETE") if str(operation) not in READS
]


def test_all_write_operations_are_found() -> None:
    assert len(WRITES) >= 40
    assert {operation.method for operation in WRITES} == {"POST", "PUT", "PATCH", "DELETE"}


@pytest.mark.every_engine
@pytest.mark.parametrize("operation", WRITES, ids=str)
def test_an_idempotency_key_of_another_call_is_409_and_writes_nothing(
    ada_rest: RestClient, apollo: Project, operation: Operation
) -> None:
    StoredAnswer.objects.create(
        project=apollo, agent="ada", request_id="used", digest="x", answer={}, created_at=clock.now()
    )
    before = dump_written(apollo)
    body: Any = BODIES.get(str(operation)) or (operation.body.example if operation.body else None)
    url = ada_rest._url(operation.path(NAMES) + QUERIES.get(str(operation), ""))
    reply = ada_rest.send(operation.method, url, body, {"Idempotency-Key": "used"})
    assert (reply.status, reply.body["error"]) == (409, "conflict"), reply
    assert "another call's" in reply.body["message"]
    assert dump_written(apollo) == before
