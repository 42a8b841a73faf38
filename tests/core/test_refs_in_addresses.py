"""Where an address has an id, the ref of that thing stands for it; another kind's is refused."""

import re
from typing import Any

import pytest

from ctxhub.core.api.ids import kind_of
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.core.registry import find_noun
from memory.constraints.services import add_constraint
from memory.memories.services.memories import add_memory
from memory.memories.services.relationships import relate
from memory.scratchpads.services.scratchpads import create_scratchpad
from memory.scratchpads.services.workflows import create_workflow
from messaging.services.messages import send_message
from tests.addresses import Operation, operations
from tests.hub import LiveHub, Reply, RestClient
from tests.tables import dump_written
from tracking.services.changes import record_change
from tracking.services.leases import acquire_lease

ALL = operations("GET", "POST", "PUT", "PATCH", "DELETE")
WITH_AN_ID = [one for one in ALL if "<id:" in one.address]
OWN_NUMBERS = {"revision"}  # No thing is named by them alone.

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
    }


def refs(ids: Ids, colon: str = ":") -> dict[str, str]:
    return {name: f"{kind_of(name)}{colon}{row_id}" for name, row_id in ids.items()}


def ask(client: RestClient, operation: Operation, names: dict[str, Any], ids: Ids) -> Reply:
    """What the operation takes beside the address is right."""
    body = dict(operation.body.example) if operation.body else None
    is_unrelating = str(operation).startswith("DELETE") and "relationships" in operation.address
    query = f"?target=constraint:{ids['constraint_id']}" if is_unrelating else ""
    if body and "target" in body:
        body["target"] = f"workflow:{ids['workflow_id']}"
    return client.send(operation.method, client._url(operation.path(names) + query), body)


# -- Which addresses ---------------------------------------------------------------------------------


def test_every_number_in_an_address_is_the_id_of_a_kind_or_its_own() -> None:
    parts = {part for one in ALL for part in re.findall(r"<(\w+):(\w+)>", one.address)}
    assert {name for how, name in parts if how == "int"} == OWN_NUMBERS
    assert all(find_noun(kind_of(name)) for how, name in parts if how == "id")


def test_things_of_every_kind_are_tried(ids: Ids) -> None:
    named = {name for one in WITH_AN_ID for name in re.findall(r"<id:(\w+)>", one.address)}
    assert named == set(ids)
    assert len(WITH_AN_ID) >= 25


# -- A ref answers as the id does --------------------------------------------------------------------


@pytest.mark.parametrize("colon", [":", "%3A", "%3a", "%20:%20"])
def test_a_ref_reads_what_the_id_reads(ada_rest: RestClient, ids: Ids, colon: str) -> None:
    for one in operations("GET"):
        if "<id:" in one.address:
            by_id, by_ref = (ask(ada_rest, one, names, ids) for names in (ids, refs(ids, colon)))
            assert (by_ref.status, by_ref.body) == (200, by_id.body), one


@pytest.mark.parametrize("operation", WITH_AN_ID, ids=str)
def test_an_operation_takes_the_ref(ada_rest: RestClient, ids: Ids, operation: Operation) -> None:
    assert ask(ada_rest, operation, refs(ids), ids).status in (200, 201, 204)


def test_kinds_are_read_in_any_case(ada_rest: RestClient, ids: Ids) -> None:
    assert ada_rest.get(f"memories/Memory:{ids['memory_id']}/").status == 200


def test_a_request_by_ref_is_the_same_call_as_by_id(ada_rest: RestClient, ids: Ids) -> None:
    addresses = [f"memories/{said}/" for said in (ids["memory_id"], f"memory:{ids['memory_id']}")]
    first, again = (ada_rest.patch(one, {"title": "x"}, {"Idempotency-Key": "k"}) for one in addresses)
    assert (first.status, first.body) == (again.status, again.body) == (200, first.body)


# -- What is no ref of a thing here ------------------------------------------------------------------


def test_the_ref_of_another_kind_is_refused_as_over_mcp(
    ada_rest: RestClient, apollo: Project, ids: Ids
) -> None:
    before = dump_written(apollo)
    for one in WITH_AN_ID:
        kind = kind_of(re.findall(r"<id:(\w+)>", one.address)[0])
        for ref in ("decision:3", "decision:api", ":3", "lease:1" if kind != "lease" else "memory:1"):
            reply = ask(ada_rest, one, dict.fromkeys(ids, ref), ids)
            assert (reply.status, reply.body["error"]) == (400, "invalid"), one
            assert reply.body["message"] == f"{ref!r} is not the id of a {kind}: write 17 or {kind}:17."
    assert dump_written(apollo) == before


@pytest.mark.parametrize("said", ["memory:", "memory:x", "memory:-1", "memory:1.5", f"memory:{'9' * 200}"])
def test_a_ref_without_an_id_is_refused(ada_rest: RestClient, said: str) -> None:
    reply = ada_rest.get(f"memories/{said}/")
    assert (reply.status, "is not the id of a memory." in reply.body["message"]) == (400, True), reply


def test_what_is_neither_id_nor_ref_is_no_address(ada_rest: RestClient) -> None:
    for said in ("x", "-1", "1.5", "decision:api/auth", "9" * 5_000):
        reply = ada_rest.get(f"memories/{said}/")
        assert (reply.status, reply.body["error"]) == (404, "not_found"), said


def test_what_is_not_there_is_not_found_by_ref_or_id(ada_rest: RestClient, ids: Ids) -> None:
    nowhere = dict.fromkeys(ids, 10**9)
    for one in WITH_AN_ID:
        by_id, by_ref = (ask(ada_rest, one, names, ids) for names in (nowhere, refs(nowhere)))
        assert (by_ref.status, by_ref.body) == (by_id.status, by_id.body), one


def test_to_a_stranger_a_ref_names_nothing(cy_rest: RestClient, apollo: Project, ids: Ids) -> None:
    before = dump_written(apollo)
    for one in WITH_AN_ID:
        by_id, by_ref = (ask(cy_rest, one, names, ids) for names in (ids, refs(ids)))
        assert (by_ref.status, by_ref.body) == (by_id.status, by_id.body), one
        assert by_ref.status == 404 or by_ref.body == {"marked": 0} or by_ref.body["items"] == [], one
    assert dump_written(apollo) == before


def test_who_asks_comes_before_what_is_said(hub: LiveHub, ids: Ids) -> None:
    for one in WITH_AN_ID:
        assert ask(hub.rest(), one, dict.fromkeys(ids, "decision:3"), ids).status == 401
