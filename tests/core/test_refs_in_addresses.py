"""REST addresses take a ref in place of an id; a ref of another kind is refused."""

import re
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project, WebhookDelivery
from ctxhub.core.registry import find_noun
from ctxhub.core.webhooks.models import DeliveryStatus
from ctxhub.core.webhooks.services import add_webhook
from ctxhub.rest.ids import kind_of
from memory.constraints.services import add_constraint
from memory.memories.services import add_memory
from memory.relationships.services import relate
from memory.scratchpads.services import create_scratchpad
from memory.snapshots.services import save_snapshot
from memory.workflows.services import create_workflow
from messaging.messages.services import send_message
from sessions.sittings.services import save_session
from tests.addresses import Operation, operations
from tests.hub import LiveHub, Reply, RestClient
from tests.tables import dump_written
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease

pytestmark = pytest.mark.one_engine

ALL = operations("GET", "POST", "PUT", "PATCH", "DELETE")
WITH_AN_ID = [operation for operation in ALL if "<id:" in operation.address]
PLAIN_NUMBERS = {"revision", "entry"}  # No ids of objects: an entry of the bin has no ref.

Ids = dict[str, int]


@pytest.fixture
def ids(ada: Caller, ben: Caller) -> Ids:
    workflow = create_workflow(caller=ada, name="Leaks")["workflow_id"]
    pad = create_scratchpad(caller=ada, workflow_id=workflow, name="notes", content="# Findings\nThey leak.")
    memory = add_memory(caller=ada, title="Pools", content="They leak.", context="shop")["id"]
    constraint = add_constraint(caller=ada, category="security", text="Sign tokens.")["id"]
    relate(caller=ada, source=memory, target=f"constraint:{constraint}")
    return {
        "workflow_id": workflow,
        "scratchpad_id": pad["scratchpad_id"],
        "memory_id": memory,
        "constraint_id": constraint,
        "message_id": send_message(caller=ben, text="Who?", to=["ada"], type="request", ack=True)["id"],
        "change_id": record_change(caller=ada, path="src/app.py", change="created")["id"],
        "lease_id": acquire_lease(caller=ada, paths=["lib/**"])["lease_id"],
        "snapshot_id": save_snapshot(caller=ada, content="They leak.", source="mcp")["id"],
        "session_id": save_session(caller=ada, summary="Half done.")["session"],
        "webhook_id": webhook_with_dead_delivery(ada),
    }


def webhook_with_dead_delivery(ada: Caller) -> int:
    row = add_webhook(caller=ada, url="https://example.com/hook").row
    delivery = WebhookDelivery(project=ada.project, webhook=row, event_id=1, created_at=row.created_at)
    delivery.status = DeliveryStatus.DEAD
    delivery.save()
    return row.pk


def refs(ids: Ids, colon: str = ":") -> dict[str, str]:
    return {name: f"{kind_of(name)}{colon}{row_id}" for name, row_id in ids.items()}


def send(client: RestClient, operation: Operation, names: dict[str, Any], ids: Ids) -> Reply:
    """Sends the operation with a valid body and query."""
    body = dict(operation.body.example) if operation.body else None
    is_unrelating = str(operation).startswith("DELETE") and "relationships" in operation.address
    query = f"?target=constraint:{ids['constraint_id']}" if is_unrelating else ""
    if operation.address == "webhooks/<id:webhook_id>/deliveries/" and body:
        body["ids"] = [WebhookDelivery.unscoped.get().pk]
    if body and "target" in body:
        body["target"] = f"workflow:{ids['workflow_id']}"
    return client.send(operation.method, client._url(operation.path(names) + query), body)


# -- Which addresses ---------------------------------------------------------------------------------


def test_every_number_in_an_address_is_the_id_of_a_kind_or_a_plain_number() -> None:
    parts = {part for operation in ALL for part in re.findall(r"<(\w+):(\w+)>", operation.address)}
    assert {name for converter, name in parts if converter == "int"} == PLAIN_NUMBERS
    assert all(find_noun(kind_of(name)) for converter, name in parts if converter == "id")


def test_ids_of_every_kind_are_tested(ids: Ids) -> None:
    named = {name for operation in WITH_AN_ID for name in re.findall(r"<id:(\w+)>", operation.address)}
    assert named == set(ids)
    assert len(WITH_AN_ID) >= 25


# -- A ref answers as the id does --------------------------------------------------------------------


@pytest.mark.parametrize("colon", [":", "%3A", "%3a", "%20:%20"])
def test_a_ref_reads_what_the_id_reads(ada_rest: RestClient, ids: Ids, colon: str) -> None:
    for operation in operations("GET"):
        if "<id:" in operation.address:
            send(ada_rest, operation, ids, ids)  # Only the first read of a snapshot counts.
            by_id, by_ref = (send(ada_rest, operation, names, ids) for names in (ids, refs(ids, colon)))
            assert (by_ref.status, by_ref.body) == (200, by_id.body), operation


@pytest.mark.parametrize("operation", WITH_AN_ID, ids=str)
def test_an_operation_takes_the_ref(ada_rest: RestClient, ids: Ids, operation: Operation) -> None:
    assert send(ada_rest, operation, refs(ids), ids).status in (200, 201, 202, 204)


def test_the_kind_of_a_ref_may_be_in_any_case(ada_rest: RestClient, ids: Ids) -> None:
    assert ada_rest.get(f"memories/Memory:{ids['memory_id']}/").status == 200


def test_a_request_by_ref_is_the_same_call_as_by_id(ada_rest: RestClient, ids: Ids) -> None:
    addresses = [f"memories/{value}/" for value in (ids["memory_id"], f"memory:{ids['memory_id']}")]
    first, repeated = (
        ada_rest.patch(address, {"title": "x"}, {"Idempotency-Key": "k"}) for address in addresses
    )
    assert (first.status, first.body) == (repeated.status, repeated.body) == (200, first.body)


# -- Refs that are refused ---------------------------------------------------------------------------


def test_the_ref_of_another_kind_is_refused_as_over_mcp(
    ada_rest: RestClient, apollo: Project, ids: Ids
) -> None:
    before = dump_written(apollo)
    for operation in WITH_AN_ID:
        kind = kind_of(re.findall(r"<id:(\w+)>", operation.address)[0])
        for ref in ("decision:3", "decision:api", ":3", "lease:1" if kind != "lease" else "memory:1"):
            reply = send(ada_rest, operation, dict.fromkeys(ids, ref), ids)
            assert (reply.status, reply.body["error"]) == (400, "invalid"), operation
            assert reply.body["message"] == f"{ref!r} is not the id of a {kind}: write 17 or {kind}:17."
    assert dump_written(apollo) == before


@pytest.mark.parametrize("ref", ["memory:", "memory:x", "memory:-1", "memory:1.5", f"memory:{'9' * 200}"])
def test_a_ref_without_an_id_is_refused(ada_rest: RestClient, ref: str) -> None:
    reply = ada_rest.get(f"memories/{ref}/")
    assert (reply.status, "is not the id of a memory." in reply.body["message"]) == (400, True), reply


def test_an_address_with_neither_id_nor_ref_is_not_found(ada_rest: RestClient) -> None:
    for value in ("x", "-1", "1.5", "decision:api/auth", "9" * 5_000):
        reply = ada_rest.get(f"memories/{value}/")
        assert (reply.status, reply.body["error"]) == (404, "not_found"), value


def test_an_unknown_id_is_answered_alike_by_ref_and_by_id(ada_rest: RestClient, ids: Ids) -> None:
    unknown_ids = dict.fromkeys(ids, 10**9)
    for operation in WITH_AN_ID:
        by_id, by_ref = (send(ada_rest, operation, names, ids) for names in (unknown_ids, refs(unknown_ids)))
        assert (by_ref.status, by_ref.body) == (by_id.status, by_id.body), operation


def test_a_ref_of_another_project_is_not_found(cy_rest: RestClient, apollo: Project, ids: Ids) -> None:
    before = dump_written(apollo)
    for operation in WITH_AN_ID:
        by_id, by_ref = (send(cy_rest, operation, names, ids) for names in (ids, refs(ids)))
        assert (by_ref.status, by_ref.body) == (by_id.status, by_id.body), operation
        assert by_ref.status == 404 or by_ref.body.get("marked") == 0 or by_ref.body["items"] == [], operation
    assert dump_written(apollo) == before


def test_the_token_is_checked_before_the_ref(hub: LiveHub, ids: Ids) -> None:
    for operation in WITH_AN_ID:
        assert send(hub.rest(), operation, dict.fromkeys(ids, "decision:3"), ids).status == 401
