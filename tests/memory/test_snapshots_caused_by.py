"""Snapshots that follow from something that is no snapshot: `caused_by` takes the ref of anything."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, NotFound
from ctxhub.core.models import Project
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import delete_decision
from memory.models import Relationship, Snapshot
from memory.relationships.services import relate, unrelate
from memory.snapshots.queries import get_snapshot, list_snapshots, snapshot_item
from memory.snapshots.services import save_snapshot
from tests.core.linked import chain, decide, impact, remember
from tests.core.test_links import kinds
from tests.hub import McpClient, RestClient
from tests.memory.snapshots import save
from tests.messaging.mail import known
from tests.people import member


@pytest.fixture(autouse=True)
def agents(ada: Caller, ben: Caller) -> None:
    known(ada, ben)


def cause_of(caller: Caller, row_id: int) -> Any:
    return snapshot_item(caller.project_id, get_snapshot(caller.project_id, row_id))["caused_by"]


def test_a_snapshot_follows_from_a_thing_of_any_kind(ada: Caller) -> None:
    for kind, ref in kinds(ada).items():
        answer = save_snapshot(caller=ada, content="x", source="mcp", caused_by=ref, dependencies=[])
        assert answer["caused_by"] == ref, kind
        assert cause_of(ada, answer["id"])["id"] == ref, kind
        assert (ref, 0, "depends_on") in chain(ada, f"snapshot:{answer['id']}"), kind
        assert (answer["id"], 1, "depends_on") in impact(ada, ref), kind


def test_lists_and_digests_name_the_cause(ada: Caller) -> None:
    [plan], [note] = decide(ada, "api/auth"), remember(ada)
    first, second = save(ada, caused_by=plan), save(ada, caused_by=f" Memory: {note[7:]} ")
    third = save(ada, caused_by=second)
    rows = list_snapshots(ada.project_id).objects()
    assert [row["caused_by"] for row in rows] == [second, note, plan]
    refs = [f"snapshot:{row_id}" for row_id in (first, third)]
    digests = call(ada, "get", {"refs": refs, "detail": "digest"})["items"]
    assert [item["caused_by"] for item in digests] == [plan, second]
    [row] = call(ada, "snapshot", {"action": "load", "format": "objects"})["items"]
    assert row["caused_by"] == second


def test_why_of_a_snapshot_says_why_of_its_cause(ada: Caller) -> None:
    call(ada, "decision", {"action": "set", "key": "store", "value": "PostgreSQL", "rationale": "It\nholds."})
    row_id = save(ada, caused_by="decision:store")
    assert call(ada, "snapshot", {"action": "why", "id": row_id})["caused_by"] == {
        "id": "decision:store",
        "summary": "PostgreSQL",
        "why": "It holds.",
    }


def test_a_list_reads_causes_with_one_statement_for_each_kind(ada: Caller) -> None:
    def count(rows: int) -> int:
        for n in range(rows):
            [plan], [note] = decide(ada, f"{rows}/{n}"), remember(ada)
            save(ada, caused_by=plan)
            save(ada, caused_by=note)
        with CaptureQueriesContext(connection) as captured:
            list_snapshots(ada.project_id, limit=100)
        return len(captured)

    assert count(1) == count(5)


def test_metadata_may_name_it(ada: Caller) -> None:
    [plan] = decide(ada, "api/auth")
    row_id = save(ada, metadata={"causedBy": plan})
    assert cause_of(ada, row_id)["id"] == plan
    with pytest.raises(NotFound, match=r"metadata\.causedBy|metadata\.caused_by"):
        save(ada, metadata={"causedBy": "decision:none"})


def test_the_link_is_a_relationship_that_can_be_removed(ada: Caller) -> None:
    [plan] = decide(ada, "api/auth")
    row_id = save(ada, caused_by=plan)
    [edge] = Relationship.objects.in_project(ada.project_id)
    assert (edge.source, edge.get_relation_display(), edge.strength) == (
        f"snapshot:{row_id}",
        "depends_on",
        100,
    )
    events = call(ada, "hub", {"action": "activity", "format": "objects"})["items"]
    assert {"created"} == {event["verb"] for event in events if event["ref"] == f"relationship:{edge.pk}"}
    unrelate(caller=ada, source=f"snapshot:{row_id}", target=plan)
    assert cause_of(ada, row_id) is None


def test_a_cause_may_be_said_later(ada: Caller) -> None:
    row_id, [plan, other] = save(ada), decide(ada, "plan", "other")
    relate(caller=ada, source=f"snapshot:{row_id}", target=plan, relation="depends_on")
    relate(caller=ada, source=f"snapshot:{row_id}", target=other, relation="depends_on")
    assert cause_of(ada, row_id)["id"] == plan


def test_a_snapshot_that_it_follows_from_comes_before_what_it_depends_on(ada: Caller) -> None:
    root, [plan] = save(ada), decide(ada, "plan")
    row_id = save(ada, caused_by=root)
    relate(caller=ada, source=f"snapshot:{row_id}", target=plan, relation="depends_on")
    assert cause_of(ada, row_id)["id"] == root


def test_a_deleted_cause_leaves_its_effect(ada: Caller) -> None:
    [plan] = decide(ada, "plan")
    row_id = save(ada, caused_by=plan)
    delete_decision(caller=ada, key="plan")
    assert cause_of(ada, row_id) is None
    assert chain(ada, f"snapshot:{row_id}") == [(row_id, 0, None)]


@pytest.mark.parametrize("ref", ["decision:none", "memory:999999", "memory:x", "lease:7", "message:0"])
def test_an_unknown_cause_is_named_and_nothing_is_written(ada: Caller, ref: str) -> None:
    kind, _, name = ref.partition(":")
    with pytest.raises(NotFound, match=f"caused_by: there is no {kind} '{name}'"):
        save(ada, caused_by=ref)
    assert not Snapshot.objects.in_project(ada.project_id).exists()


@pytest.mark.parametrize("ref", ["agent:ada", "nothing:1", "template:deprecation", "memory:", "template:x"])
def test_what_cannot_be_a_cause_is_refused_with_what_can(ada: Caller, ref: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        save(ada, caused_by=ref)
    assert "decision" in f"{refused.value.message} {refused.value.hint}"
    assert not Snapshot.objects.in_project(ada.project_id).exists()


def test_the_things_of_another_project_are_no_causes(ada: Caller, cy: Caller) -> None:
    for ref in kinds(ada).values():
        with pytest.raises(CtxhubError) as refused:
            save(cy, caused_by=ref)
        assert refused.value.code == "not_found", ref


def test_an_agent_names_a_decision_as_the_cause(ada_mcp: McpClient, ben_rest: RestClient) -> None:
    ada_mcp.call("decision", "set", key="api/auth", value="JWT")
    saved = ada_mcp.call("snapshot", "save", content="x", caused_by="decision:api/auth", dependencies=[])
    assert saved["caused_by"] == "decision:api/auth"
    cause = {"id": "decision:api/auth", "summary": "JWT"}
    assert ada_mcp.call("snapshot", "get", id=saved["id"])["caused_by"] == cause
    assert ben_rest.get(f"snapshots/{saved['id']}/").body["caused_by"] == cause
    assert ben_rest.get("snapshots/").body["items"][0]["caused_by"] == "decision:api/auth"
    for written in (saved["id"], float(saved["id"]), str(saved["id"]), f"snapshot:{saved['id']}"):
        number = ada_mcp.call("snapshot", "save", content="y", caused_by=written, dependencies=[])
        assert number["caused_by"] == saved["id"]


def test_a_program_names_a_message_as_the_cause(ada_rest: RestClient, cy_rest: RestClient) -> None:
    message = ada_rest.post("messages/", {"text": "Why?", "to": ["ben"]}).body["id"]
    reply = ada_rest.post("snapshots/", {"content": "x", "caused_by": f"message:{message}"})
    cause = {"id": f"message:{message}", "summary": "Why?"}
    assert (reply.status, reply.body["caused_by"]) == (201, cause["id"])
    assert ada_rest.get(f"snapshots/{reply.body['id']}/").body["caused_by"] == cause
    assert cy_rest.post("snapshots/", {"content": "x", "caused_by": f"message:{message}"}).status == 404
    assert ada_rest.post("snapshots/", {"content": "x", "caused_by": "the last"}).status == 400
    assert ada_rest.post("snapshots/", {"content": "x", "caused_by": reply.body["id"]}).status == 201


def test_a_person_names_a_decision_as_the_cause(ada: Caller, apollo: Project) -> None:
    [plan] = decide(ada, "api/auth")
    client = member(apollo)
    form = {"content": "x", "action_type": "decision", "caused_by": plan}
    page = client.post("/admin/memory/snapshot/add/?project=apollo", form)
    assert page.status_code == 302, page.content.decode()
    row = Snapshot.objects.in_project(apollo.pk).get()
    assert cause_of(ada, row.pk)["id"] == plan
    assert "api/auth" in client.get(f"/admin/memory/snapshot/{row.pk}/").content.decode()
