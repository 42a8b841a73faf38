"""Every address below a project that writes heeds an Idempotency-Key: one of another call writes nothing."""

from typing import Any

import pytest

from ctxhub.core.kit import clock
from ctxhub.core.models import Project, StoredAnswer
from tests.addresses import Operation, operations
from tests.hub import RestClient
from tests.tables import dump_written

NAMES = {"key": "k", "name": "incident", "context": "general", "tool": "decision", "action": "set"}
# What an operation needs beside its body's example.
QUERIES = {"DELETE memories/<id:memory_id>/relationships/": "?target=decision:k"}
SAID = {"key": "k", "value": 1}
BODIES = {"POST call/<str:tool>/": SAID, "POST call/<str:tool>/<str:action>/": SAID}
READS = ["POST search/"]
WRITES = [one for one in operations("POST", "PUT", "PATCH", "DELETE") if str(one) not in READS]


def test_they_are_all_found() -> None:
    assert len(WRITES) >= 40
    assert {one.method for one in WRITES} == {"POST", "PUT", "PATCH", "DELETE"}


@pytest.mark.parametrize("operation", WRITES, ids=str)
def test_the_key_of_another_call_is_409_and_nothing_is_written(
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
