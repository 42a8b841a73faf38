"""Walks along links from an object of any kind: what led to it, and what followed from it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.hub import links
from ctxhub.core.hub.links import distances
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.links import Link
from ctxhub.core.models import Project
from memory.constraints.services import add_constraint
from memory.contexts.services import create_context
from memory.decisions.services import delete_decision, set_decision
from memory.memories.services import delete_memory
from memory.models import Decision, Memory, Relationship
from memory.relationships.services import relate
from memory.workflows.services import create_workflow
from messaging.messages.requests import finish_request
from messaging.models import Message, RequestState
from sessions.sittings.services import save_session
from tests.core.linked import chain, decide, done, impact, reasons, remember, rest_on, supersede
from tests.memory.snapshots import link as cause
from tests.memory.snapshots import save, write, write_chain
from tests.messaging.mail import known, send
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture(autouse=True)
def time() -> Iterator[Any]:
    with time_machine.travel(NINE, tick=True) as traveller:
        yield traveller


@pytest.fixture(autouse=True)
def agents(ada: Caller, ben: Caller) -> None:
    known(ada, ben)


# -- Each kind of link, in both directions ---------------------------------------------------------


def test_what_supersedes_a_decision_led_to_its_end(ada: Caller) -> None:
    old, new = decide(ada, "old", "new")
    supersede(ada, "old", "new")
    assert chain(ada, old) == [(new, 0, "superseded_by"), (old, 1, None)]
    assert impact(ada, new) == [(old, 1, "superseded_by")]
    assert impact(ada, old) == []


@pytest.mark.parametrize("relation", ["depends_on", "references"])
def test_what_something_depends_on_or_references_led_to_it(ada: Caller, relation: str) -> None:
    [base], [note] = decide(ada, "base"), remember(ada)
    rest_on(ada, base, note, relation=relation)
    assert chain(ada, note) == [(base, 0, relation), (note, 1, None)]
    assert impact(ada, base) == [(note, 1, relation)]
    assert chain(ada, base) == [(base, 0, None)]
    assert impact(ada, note) == []


def test_what_blocks_something_comes_before_it(ada: Caller) -> None:
    [decision], [note] = decide(ada, "plan"), remember(ada)
    relate(caller=ada, source=note, target=decision, relation="blocks")
    assert chain(ada, decision) == [(note, 0, "blocks"), (decision, 1, None)]
    assert impact(ada, note) == [(decision, 1, "blocks")]


def test_a_message_led_to_its_replies(ada: Caller, ben: Caller) -> None:
    first = send(ada)
    reply = send(ben, reply_to=first)
    last = send(ada, reply_to=reply)
    assert chain(ada, f"message:{last}") == [
        (f"message:{first}", 0, "reply_to"),
        (f"message:{reply}", 1, "reply_to"),
        (f"message:{last}", 2, None),
    ]
    assert impact(ada, f"message:{first}") == [
        (f"message:{reply}", 1, "reply_to"),
        (f"message:{last}", 2, "reply_to"),
    ]


def test_a_request_led_to_its_results(ada: Caller, ben: Caller) -> None:
    [decision], [note] = decide(ada, "api/auth"), remember(ada)
    request = done(ada, ben, decision, note)
    assert impact(ada, request) == [(decision, 1, "result_refs"), (note, 1, "result_refs")]
    assert chain(ada, decision) == [(request, 0, "result_refs"), (decision, 1, None)]
    assert chain(ada, note) == [(request, 0, "result_refs"), (note, 1, None)]


def test_a_snapshot_may_follow_from_anything(ada: Caller, ben: Caller) -> None:
    root = save(ada)
    last = save(ada, caused_by=root)
    request = done(ada, ben, f"snapshot:{last}")
    [note] = remember(ada)
    rest_on(ada, f"snapshot:{last}", note)
    assert chain(ada, f"snapshot:{last}") == [
        (root, 0, "caused_by"),
        (request, 0, "result_refs"),
        (last, 1, None),
    ]
    assert impact(ada, f"snapshot:{root}") == [(last, 1, "caused_by"), (note, 2, "depends_on")]
    assert chain(ada, note)[-2:] == [(last, 1, "depends_on"), (note, 2, None)]


def test_a_walk_goes_on_through_kinds(ada: Caller, ben: Caller) -> None:
    question = send(ada, "Which tokens?")
    request = send(ben, "Decide.", type="request", reply_to=question, to=["ada"])
    old, new = decide(ada, "old", "new")
    supersede(ada, "old", "new")
    [note] = remember(ada)
    rest_on(ada, old, note)
    finish_request(caller=ada, message_id=request, result_refs=[new])
    assert chain(ada, note) == [
        (f"message:{question}", 0, "reply_to"),
        (f"message:{request}", 1, "result_refs"),
        (new, 2, "superseded_by"),
        (old, 3, "depends_on"),
        (note, 4, None),
    ]
    assert [row[0] for row in impact(ada, f"message:{question}")] == [f"message:{request}", new, old, note]


# -- Beside, and why -------------------------------------------------------------------------------


def test_what_includes_or_is_related_is_shown_and_not_walked(ada: Caller) -> None:
    whole, part, friend, far = remember(ada, "whole", "part", "friend", "far")
    relate(caller=ada, source=whole, target=part, relation="includes")
    relate(caller=ada, source=friend, target=whole, relation="related")
    rest_on(ada, far, part, friend, relation="related")
    rest_on(ada, far, friend)
    assert chain(ada, whole) == [(part, 0, "includes"), (friend, 0, "related"), (whole, 1, None)]
    assert impact(ada, whole) == [(friend, 1, "related")]
    assert impact(ada, part)[:1] == [(whole, 1, "includes")]


def test_a_cause_that_is_related_as_well_is_a_cause(ada: Caller) -> None:
    one, other = remember(ada, "one", "other")
    rest_on(ada, one, other, relation="related")
    rest_on(ada, one, other)
    assert chain(ada, other) == [(one, 0, "depends_on"), (other, 1, None)]


def test_why_shows_what_it_directly_follows_from(ada: Caller) -> None:
    root, base, note, friend = remember(ada, "root", "base", "note", "friend")
    rest_on(ada, root, base, note)
    rest_on(ada, friend, note, relation="related")
    assert reasons(ada, note) == [(note, 0, None), (base, 1, "depends_on"), (friend, 1, "related")]
    assert reasons(ada, root) == [(root, 0, None)]


def test_why_of_a_snapshot_has_rows_too(ada: Caller) -> None:
    root = save(ada)
    last = save(ada, caused_by=root)
    assert reasons(ada, f"snapshot:{last}") == [(last, 0, None), (root, 1, "caused_by")]


# -- Rows ------------------------------------------------------------------------------------------


def test_rows_have_the_kind_a_summary_and_a_time(ada: Caller) -> None:
    [base] = decide(ada, "api/auth")
    [note] = remember(ada, "t" * 300)
    rest_on(ada, base, note)
    first, last = links.list_chain(ada.project_id, note).objects()
    assert (first["action_type"], first["summary"]) == ("decision", "api/auth it is")
    assert first["at"] == "2026-01-05T09:00:00Z"
    assert (last["action_type"], last["summary"]) == ("memory", "t" * 200 + "…")


def test_equally_near_ones_are_listed_the_older_first(ada: Caller, time: Any) -> None:
    refs = []
    for hour in (9, 8, 10):
        time.move_to(NINE.replace(hour=hour))
        refs += remember(ada)
    [base] = remember(ada)
    for ref in refs:
        rest_on(ada, base, ref)
    assert [row[0] for row in impact(ada, base)] == [refs[1], refs[0], refs[2]]


def test_the_nearest_way_counts(ada: Caller) -> None:
    root, middle, last = remember(ada, "root", "middle", "last")
    rest_on(ada, root, middle, last)
    rest_on(ada, root, last, relation="references")
    assert chain(ada, last) == [
        (root, 0, "references"),
        (middle, 0, "depends_on"),
        (last, 1, None),
    ]


def test_a_dependency_of_a_snapshot_is_no_short_cut(ada: Caller) -> None:
    root = save(ada)
    middle = save(ada, caused_by=root)
    last = save(ada, caused_by=middle, dependencies=[root])
    [note] = remember(ada)
    rest_on(ada, f"snapshot:{last}", note)
    assert [row[:2] for row in chain(ada, note)] == [(root, 0), (middle, 1), (last, 2), (note, 3)]


def kinds(ada: Caller) -> dict[str, str]:
    """A ref of each kind that has links or none of its own."""
    set_decision(caller=ada, key="Plan", value="x")
    workflow = create_workflow(caller=ada, name="w")["workflow_id"]
    return {
        "decision": "decision:Plan",
        "constraint": f"constraint:{add_constraint(caller=ada, category='security', text='x')['id']}",
        "workflow": f"workflow:{workflow}",
        "context": f"context:{create_context(caller=ada, name='Shop')['id']}",
        "memory": remember(ada)[0],
        "message": f"message:{send(ada)}",
        "change": f"change:{record_change(caller=ada, path='src/app.py', change='created')['id']}",
        "resource": "resource:src/app.py",
        "lease": f"lease:{acquire_lease(caller=ada, paths=['lib/**'])['lease_id']}",
        "session": f"session:{save_session(caller=ada, session='evening', summary='x')['session']}",
    }


def test_an_object_without_links_is_a_chain_of_itself(ada: Caller) -> None:
    for kind, ref in kinds(ada).items():
        assert chain(ada, ref) == reasons(ada, ref) == [(ref, 0, None)], kind
        assert impact(ada, ref) == [], kind
        assert links.list_chain(ada.project_id, ref).objects()[0]["action_type"] == kind


def test_templates_and_relationships_have_no_links(ada: Caller) -> None:
    one, other = remember(ada, "one", "other")
    rest_on(ada, one, other)
    row_id = Relationship.objects.in_project(ada.project_id).get().pk
    for ref in (f"relationship:{row_id}", "template:deprecation"):
        assert chain(ada, ref) == reasons(ada, ref) == [(ref, 0, None)]
        assert impact(ada, ref) == []


def test_results_of_every_kind_are_found_both_ways(ada: Caller, ben: Caller) -> None:
    refs = kinds(ada)
    request = done(ben, ada, *refs.values())
    assert {row[0] for row in impact(ada, request)} == set(refs.values())
    for ref in refs.values():
        assert chain(ada, ref)[0] == (request, 0, "result_refs"), ref


def test_results_may_have_other_names(ada: Caller, ben: Caller) -> None:
    refs = kinds(ada)
    request = done(ben, ada, "context:Shop", "session:evening")
    for ref in (refs["context"], refs["session"]):
        assert (ref, 1, "result_refs") in impact(ada, request)
        assert chain(ada, ref)[0] == (request, 0, "result_refs")


def test_a_key_that_is_a_number_is_no_id(ada: Caller, ben: Caller) -> None:
    [plan] = decide(ada, "plan")
    number = Decision.objects.in_project(ada.project_id).get().pk
    done(ada, ben, f"decision:{number}")
    assert chain(ada, plan) == [(plan, 0, None)]


# -- Limits ----------------------------------------------------------------------------------------


def notes(caller: Caller, count: int) -> list[str]:
    """Memories written in bulk."""
    [first] = remember(caller)
    context = Memory.objects.in_project(caller.project_id).get(pk=first.partition(":")[2]).context
    made = Memory.unscoped.bulk_create(
        [Memory(project=caller.project, context=context, title=f"n{n}") for n in range(count)]
    )
    return [memory.ref for memory in made]


def join(caller: Caller, pairs: list[tuple[str, str]]) -> None:
    """Make the first of each pair depend on the second."""
    ids = [(int(one.partition(":")[2]), int(other.partition(":")[2])) for one, other in pairs]
    Relationship.unscoped.bulk_create(
        Relationship(
            project=caller.project,
            source_kind="memory",
            source_id=one,
            target_kind="memory",
            target_id=other,
            relation=4,
        )
        for one, other in ids
    )


def is_cut(caller: Caller, ref: str, walk: Callable[..., Any] = links.list_chain) -> bool:
    return "more" in walk(caller.project_id, ref).extra


def test_a_chain_goes_100_steps_back(ada: Caller) -> None:
    refs = notes(ada, 102)
    join(ada, list(zip(refs[1:], refs, strict=False)))
    assert [row[:2] for row in chain(ada, refs[100])] == [(ref, n) for n, ref in enumerate(refs[:101])]
    assert not is_cut(ada, refs[100])
    assert [row[0] for row in chain(ada, refs[101])] == refs[1:]
    assert is_cut(ada, refs[101])
    assert [row[:2] for row in impact(ada, refs[0])] == [(refs[n], n) for n in range(1, 101)]
    assert is_cut(ada, refs[0], links.list_impact)
    assert not is_cut(ada, refs[1], links.list_impact)


@pytest.mark.parametrize(("count", "cut"), [(1_000, False), (1_001, True), (2_500, True)])
def test_at_most_1000_rows_are_listed(ada: Caller, count: int, cut: bool) -> None:
    root, *others = notes(ada, count + 1)
    join(ada, [(other, root) for other in others])
    assert len(impact(ada, root)) == 1_000
    assert is_cut(ada, root, links.list_impact) is cut


def test_a_chain_of_1000_rows_counts_itself(ada: Caller) -> None:
    last, *others = notes(ada, 1_001)
    join(ada, [(last, other) for other in others])
    assert len(chain(ada, last)) == 1_000
    assert is_cut(ada, last)
    assert (len(reasons(ada, last)), is_cut(ada, last, links.list_reasons)) == (1_001, False)


def test_a_circle_ends(ada: Caller) -> None:
    refs = notes(ada, 5)
    join(ada, list(zip(refs, refs[1:] + refs[:1], strict=True)))
    assert [row[0] for row in chain(ada, refs[0])] == [*refs[:0:-1], refs[0]]
    assert len(impact(ada, refs[0])) == 4
    assert not is_cut(ada, refs[0])


def test_a_circle_through_kinds_ends(ada: Caller) -> None:
    [decision], [note] = decide(ada, "plan"), remember(ada)
    row_id = save(ada)
    rest_on(ada, decision, note, f"snapshot:{row_id}", decision)
    assert {row[0] for row in chain(ada, decision)} == {decision, note, row_id}
    assert {row[0] for row in impact(ada, f"snapshot:{row_id}")} == {decision, note}


def test_a_long_chain_of_snapshots_is_left_for_other_kinds(ada: Caller, ben: Caller) -> None:
    ids = write_chain(ada, 3_000)
    request = done(ada, ben, f"snapshot:{ids[-2]}")
    [note] = remember(ada)
    rest_on(ada, note, request)
    found = chain(ada, f"snapshot:{ids[-1]}")
    depths = {row_id: depth for row_id, depth, _ in found}
    assert depths[request] == depths[ids[-1]] - 2
    assert depths[note] == depths[ids[-1]] - 3
    assert len(found) == 1_000


def test_a_fan_of_snapshots_beside_another_kind_is_cut(ada: Caller) -> None:
    root, *others = write(ada, 1_200)
    cause(others, [root] * len(others))
    [note] = remember(ada)
    rest_on(ada, f"snapshot:{root}", note)
    assert len(impact(ada, f"snapshot:{root}")) == 1_000
    assert is_cut(ada, f"snapshot:{root}", links.list_impact)


# -- Deleted, unknown, of others -------------------------------------------------------------------


def test_a_chain_ends_at_what_was_deleted(ada: Caller, ben: Caller) -> None:
    [base], notes_ = decide(ada, "base"), remember(ada, "middle", "last")
    rest_on(ada, base, *notes_)
    request = done(ada, ben, notes_[0], notes_[1])
    delete_memory(caller=ada, memory_id=int(notes_[0].partition(":")[2]))
    assert chain(ada, notes_[1]) == [(request, 0, "result_refs"), (notes_[1], 1, None)]
    assert impact(ada, base) == []
    assert impact(ada, request) == [(notes_[1], 1, "result_refs")]
    assert not is_cut(ada, request, links.list_impact)


def test_a_deleted_decision_and_message_are_gone(ada: Caller, ben: Caller) -> None:
    old, new = decide(ada, "old", "new")
    supersede(ada, "old", "new")
    request = done(ada, ben, old)
    reply = send(ada, reply_to=int(request.partition(":")[2]))
    delete_decision(caller=ada, key="new")
    Message.objects.in_project(ada.project_id).get(pk=request.partition(":")[2]).delete()
    assert chain(ada, old) == [(old, 0, None)]
    assert chain(ada, f"message:{reply}") == [(f"message:{reply}", 0, None)]
    with pytest.raises(NotFound):
        chain(ada, new)


@pytest.mark.parametrize("walk", [links.list_reasons, links.list_chain, links.list_impact])
@pytest.mark.parametrize(
    "ref",
    [
        "decision:none",
        "memory:999999",
        "memory:x",
        "memory:0",
        f"memory:{10**30}",
        "template:none",
        "change:9",
    ],
)
def test_an_unknown_object_is_not_found(ada: Caller, walk: Callable[..., Any], ref: str) -> None:
    with pytest.raises(NotFound, match="There is no"):
        walk(ada.project_id, ref)


@pytest.mark.parametrize("ref", ["", "17", "nothing", "memory:", "agent:ada", "decision:a\x00b", "x" * 2_000])
def test_what_is_no_ref_is_refused(ada: Caller, ref: str) -> None:
    with pytest.raises(InvalidInput):
        links.list_chain(ada.project_id, ref)


def test_another_project_sees_nothing(ada: Caller, ben: Caller, cy: Caller) -> None:
    refs = kinds(ada)
    row_id = save(ada)
    done(ben, ada, *refs.values())
    for ref in (*refs.values(), f"snapshot:{row_id}"):
        for walk in (reasons, chain, impact):
            with pytest.raises(NotFound):
                walk(cy, ref)


def test_links_never_lead_to_another_project(ada: Caller, cy: Caller, hermes: Project) -> None:
    """Stored links that name a row of another project, as only a fault could write them."""
    [theirs], [own] = remember(ada), remember(cy)
    one, other = (int(ref.partition(":")[2]) for ref in (own, theirs))
    ends = {"source_kind": "memory", "source_id": one, "target_kind": "memory", "target_id": other}
    Relationship.unscoped.create(project=hermes, relation=4, **ends)
    request = Message.unscoped.get(pk=(message := send(cy, type="request")))
    request.state, request.result_refs = RequestState.DONE, [theirs, own]
    request.save()
    assert chain(cy, own) == [(f"message:{message}", 0, "result_refs"), (own, 1, None)]
    assert impact(cy, f"message:{message}") == [(own, 1, "result_refs")]
    assert impact(ada, theirs) == []


def test_results_that_are_no_refs_are_left_out(ada: Caller) -> None:
    [note] = remember(ada)
    message = send(ada, type="request")
    Message.unscoped.filter(pk=message).update(state=3, result_refs=["x", "agent:ada", "decision:none", note])
    assert impact(ada, f"message:{message}") == [(note, 1, "result_refs")]


# -- Statements ------------------------------------------------------------------------------------


def statements(caller: Caller, ref: str, walk: Callable[..., Any]) -> int:
    with CaptureQueriesContext(connection) as captured:
        walk(caller.project_id, ref)
    return len(captured)


def fan(ada: Caller, ben: Caller, count: int) -> str:
    """A message with replies, and results on which memories rest."""
    refs = [
        *notes(ada, count),
        *decide(ada, *(f"{ada.project_id}/{count}/{n}" for n in range(min(count, 20)))),
    ]
    request = done(ada, ben, *refs[-50:])
    message = int(request.partition(":")[2])
    for _ in range(count):
        send(ben, reply_to=message)
    join(ada, list(zip(notes(ada, count), refs, strict=False)))
    return request


def test_a_walk_runs_as_many_statements_for_2_rows_a_step_as_for_100(ada: Caller, ben: Caller) -> None:
    few, many = fan(ada, ben, 2), fan(ada, ben, 100)
    for walk in (links.list_impact, links.list_chain, links.list_reasons):
        assert statements(ada, many, walk) == statements(ada, few, walk) < 25


def test_snapshots_alone_are_walked_by_one_statement_and_two_looks_for_others(ada: Caller) -> None:
    short, long = write_chain(ada, 2), write_chain(ada, 150)
    for ids in (short, long):
        with CaptureQueriesContext(connection) as captured:
            links.find_chain(ada.project_id, ("snapshot", ids[-1]))
        assert sum("RECURSIVE" in query["sql"] for query in captured) == 1
        assert len(captured) == 4


# -- Distances -------------------------------------------------------------------------------------


def test_firm_links_count_before_loose_ones() -> None:
    one, two, three = (("snapshot", n) for n in (1, 2, 3))
    found = distances(
        one,
        {
            one: [Link(one, three, "depends_on", is_loose=True), Link(one, two, "caused_by")],
            two: [Link(two, three, "caused_by"), Link(two, one, "caused_by")],
        },
    )
    assert found == {two: (1, "caused_by"), three: (2, "caused_by")}
