"""The bin: what is deleted comes back as it was, under its id."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ctxhub.core import emptying
from ctxhub.core.bin import binning
from ctxhub.core.bin.contents import unpacked
from ctxhub.core.bin.emptying import purge, remove_expired
from ctxhub.core.bin.models import BinState
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.hub.deleting import delete_refs
from ctxhub.core.hub.undoing import undo_deletions
from ctxhub.core.kit import clock
from ctxhub.core.kit.background import flush_all
from ctxhub.core.kit.caller import ADMIN, READ, WRITE, Caller, acting
from ctxhub.core.kit.errors import Conflict, CtxhubError, InvalidInput, NotAllowed, NotFound
from ctxhub.core.models import BinItem, BinPart, Category, Event, PathPattern, Project, Tag
from ctxhub.core.search.index_check import find_faults
from ctxhub.core.vocabulary.services import delete_word
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint, delete_constraint
from memory.decisions import services
from memory.models import (
    Constraint,
    Context,
    Decision,
    DecisionRevision,
    Memory,
    Relationship,
    Scratchpad,
    Snapshot,
    Workflow,
)
from memory.suggestions.similar_keys import find_similar
from memory.templates.services import delete_template
from messaging.models import Message
from sessions.models import AgentSession
from tests.search_index import index_is_right
from tests.tables import dump_project
from tests.tallies import counted, tallied
from tests.transfer.world import HOSTILE, export_of, fill, objects_in
from tracking.models import FileChange

pytestmark = pytest.mark.django_db

Rows = list[list[Any]]


@pytest.fixture
def world(ada: Caller, ben: Caller, apollo: Project) -> Project:
    """A project that has some of everything."""
    fill(ada, ben)
    return apollo


def undo(caller: Caller, *refs: str, **more: Any) -> Rows:
    rows: Rows = call(caller, "delete", {"refs": list(refs), "undo": True, **more})["rows"]
    return rows


def delete(caller: Caller, *refs: str) -> Rows:
    rows: Rows = call(caller, "delete", {"refs": list(refs)})["rows"]
    return rows


def refusal(caller: Caller, *refs: str, **more: Any) -> CtxhubError:
    with pytest.raises(CtxhubError) as refused:
        undo(caller, *refs, **more)
    return refused.value


def memory(caller: Caller, context: str = "shop", **more: Any) -> str:
    asked = {"action": "add", "title": "t", "content": "c", "context": context, **more}
    return f"memory:{call(caller, 'memory', asked)['id']}"


def decide(caller: Caller, *keys: str) -> None:
    for key in keys:
        call(caller, "decision", {"action": "set", "key": key, "value": "v"})


def events_of(project: Project, ref: str) -> list[str]:
    rows = Event.objects.in_project(project).filter(ref=ref).order_by("pk")
    return list(rows.values_list("verb", flat=True))


def is_sound(project: Project) -> bool:
    """Whether index and counters are right."""
    index_is_right(project)
    assert not [*find_faults([project.pk])]
    return tallied(project) == counted(project)


# -- Everything is as it was -----------------------------------------------------------------------

# Of the log, of what use and the write that restores change, and of the bin itself.
NOT_COMPARED = {
    *("core_event", "core_binitem", "core_binpart", "core_tally", "core_agent", "core_storedanswer"),
    *("agent_sessions_briefing", "agent_sessions_briefingitem", "agent_sessions_writing"),
    "agent_sessions_presence",
    *("core_searchentry", "core_searchtext", "core_searchword", "core_termcount"),
}


def stored(project: Project) -> dict[str, list[str]]:
    """All rows by table, with ids but for globs, without when contexts and workflows were written to."""
    Context.objects.in_project(project).update(updated_at=clock.now().replace(year=2020, microsecond=0))
    Workflow.objects.in_project(project).update(updated_at=clock.now().replace(year=2020, microsecond=0))
    rows = {t: sorted(map(str, rows)) for t, rows in dump_project(project).items() if t not in NOT_COMPARED}
    globs = PathPattern.objects.in_project(project).values_list(
        "kind", "object_id", "position", "pattern", "stale"
    )
    rows[PathPattern._meta.db_table] = sorted(map(str, globs))
    return rows


def unfixed(rows: dict[str, list[str]]) -> dict[str, list[str]]:
    """Without the seconds in which `stored` set the times."""
    return {t: r for t, r in rows.items() if t not in ("memory_context", "memory_workflow")}


REFS: dict[str, Callable[[Project], str]] = {
    "decision": lambda _: "decision:db/engine",
    "deprecated decision": lambda _: "decision:old/way",
    "memory": lambda p: f"memory:{Memory.objects.in_project(p).get(title='First').pk}",
    "other memory": lambda p: f"memory:{Memory.objects.in_project(p).get(title='Second').pk}",
    "context": lambda _: "context:shop",
    "workflow": lambda p: f"workflow:{Workflow.objects.in_project(p).get().pk}",
    "scratchpad": lambda p: f"scratchpad:{Scratchpad.objects.in_project(p).get().pk}",
    "cause": lambda p: f"snapshot:{Snapshot.objects.in_project(p).get(summary='Began').pk}",
    "effect": lambda p: f"snapshot:{Snapshot.objects.in_project(p).get(summary='Went on').pk}",
    "session": lambda _: "session:win-1",
}


def exported(project: Project) -> list[dict[str, Any]]:
    """The objects of an export, without the times that a write of their contents sets."""
    lines = [json.loads(line) for line in objects_in(export_of(project))]
    for line in lines:
        if line["kind"] in ("context", "workflow"):
            line["data"].pop("updated_at")
        if line["kind"] == "agent":
            line["data"].pop("last_seen_at")
    return lines


FOLLOWING_USE = {"access_count", "last_accessed", "prediction", "updated", "updated_at"}


def shown(caller: Caller, ref: str) -> dict[str, Any]:
    """The object as `get` answers it, without what follows from use and from writes of its contents."""
    [item] = call(caller, "get", {"refs": [ref]})["items"]
    return {name: value for name, value in item.items() if name not in FOLLOWING_USE}


@pytest.mark.parametrize("name", REFS)
def test_what_is_deleted_comes_back_as_it_was(world: Project, ada: Caller, name: str) -> None:
    ref = REFS[name](world)
    opened = shown(ada, ref)
    flush_all()
    before = unfixed(stored(world))
    lines = exported(world)
    assert delete(ada, ref)[0][1] == "deleted"
    assert unfixed(stored(world)) != before
    assert undo(ada, ref)[0][1] == "restored"
    after = unfixed(stored(world))
    again = exported(world)
    if name == "decision":  # What it supersedes has lost and got its successor, with a revision for each.
        superseded = Decision.objects.in_project(world).get(key="old/way")
        assert superseded.superseded_by
        assert superseded.superseded_by.key == "db/engine"
        for rows in (before, after):
            rows.pop("memory_decision"), rows.pop("memory_decisionrevision")
        lines = [line for line in lines if line["data"].get("key") != "old/way"]
        again = [line for line in again if line["data"].get("key") != "old/way"]
    assert after == before
    assert again == lines
    assert shown(ada, ref) == opened
    assert is_sound(world)
    assert not BinItem.objects.in_project(world).exists()
    assert not BinPart.objects.in_project(world).exists()


def test_all_of_them_come_back_in_one_call(world: Project, ada: Caller) -> None:
    refs = [REFS[name](world) for name in REFS if name != "decision"]
    before = unfixed(stored(world))
    assert {row[1] for row in delete(ada, *refs)} == {"deleted"}
    assert {row[1] for row in undo(ada, *refs)} == {"restored"}
    assert unfixed(stored(world)) == before
    assert is_sound(world)


@pytest.mark.parametrize("order", [1, -1])
def test_one_after_the_other_in_either_order(world: Project, ada: Caller, order: int) -> None:
    """What joins two objects waits in the bin for the one that comes later."""
    refs = [REFS[name](world) for name in ("memory", "cause", "effect", "session", "deprecated decision")]
    before = unfixed(stored(world))
    for ref in refs:
        delete(ada, ref)
    for ref in refs[::order]:
        assert undo(ada, ref)[0][1] == "restored"
    assert unfixed(stored(world)) == before
    assert is_sound(world)


@pytest.mark.parametrize("kind", ["constraint", "template", "message", "change"])
def test_what_only_people_delete_comes_back(world: Project, ada: Caller, kind: str) -> None:
    models: dict[str, Any] = {"message": Message, "change": FileChange, "constraint": Constraint}
    ref = "template:Adr"
    if kind in models:
        row = models[kind].objects.in_project(world).order_by("pk").first()
        ref = f"{kind}:{row.pk}"
    before, lines = unfixed(stored(world)), exported(world)
    with acting(ada):
        if kind == "constraint":
            delete_constraint(caller=ada, constraint_id=row.pk)
        elif kind == "template":
            delete_template(caller=ada, name="adr")
        else:
            row.delete()
    assert undo(ada, ref)[0][1] == "restored"
    assert unfixed(stored(world)) == before
    assert exported(world) == lines
    assert events_of(world, ref)[-2:] == ["deleted", "restored"]
    assert is_sound(world)


@pytest.mark.parametrize("name", REFS)
def test_what_is_deleted_through_the_orm_comes_back(world: Project, ada: Caller, name: str) -> None:
    ref = REFS[name](world)
    models: dict[str, Any] = {
        "decision": Decision,
        "memory": Memory,
        "context": Context,
        "workflow": Workflow,
    }
    models |= {"scratchpad": Scratchpad, "snapshot": Snapshot, "session": AgentSession}
    kind, _, value = ref.partition(":")
    field = {"decision": "key", "context": "folded", "session": "name"}.get(kind, "pk")
    before = unfixed(stored(world))
    with acting(ada):
        models[kind].objects.in_project(world).get(**{field: value}).delete()
    assert undo(ada, ref)[0][1] == "restored"
    after = unfixed(stored(world))
    if name == "decision":
        for rows in (before, after):
            rows.pop("memory_decision"), rows.pop("memory_decisionrevision")
    assert after == before
    assert is_sound(world)


def test_an_event_tells_who_restored_it(ada: Caller, ben: Caller, apollo: Project) -> None:
    ref = memory(ada)
    delete(ada, ref)
    undo(ben, ref)
    assert events_of(apollo, ref) == ["created", "deleted", "restored"]
    event = Event.objects.in_project(apollo).get(verb="restored")
    assert event.agent
    assert event.agent.name == "ben"


def test_how_stale_it_was_comes_back(ada: Caller, apollo: Project) -> None:
    call(ada, "decision", {"action": "set", "key": "k", "value": "v", "paths": ["src/**"]})
    stale = PathPattern.objects.in_project(apollo)
    stale.update(stale=2, stale_since=clock.now(), folders_at=clock.now())
    before = list(stale.values_list("pattern", "stale", "stale_since", "folders_at"))
    delete(ada, "decision:k")
    undo(ada, "decision:k")
    assert list(stale.values_list("pattern", "stale", "stale_since", "folders_at")) == before


# -- What has changed meanwhile --------------------------------------------------------------------


def test_a_taken_name_is_a_conflict(world: Project, ada: Caller) -> None:
    delete(ada, "decision:limit", "context:shop", "session:win-1")
    with acting(ada):
        delete_template(caller=ada, name="adr")
    decide(ada, "limit")
    call(ada, "memory", {"action": "context_create", "name": "SHOP"})
    call(ada, "session", {"action": "save", "session": "win-1", "summary": "x"})
    call(ada, "decision", {"action": "template_set", "name": "ADR", "require": ["layer"]})
    refs = ["decision:limit", "context:shop", "session:win-1", "template:adr"]
    refused = refusal(ada, *refs)
    assert isinstance(refused, Conflict)
    assert [row[1] for row in refused.details["rows"]] == ["conflict"] * 4
    assert "another decision" in refused.details["rows"][0][2]
    assert BinItem.objects.in_project(world).count() == 4
    assert [row[1] for row in undo(ada, *refs, dry_run=True)] == ["conflict"] * 4
    assert is_sound(world)


def test_an_id_that_was_given_again_is_a_conflict(ada: Caller, apollo: Project) -> None:
    """Ids are given once; but for what a person does to the database."""
    ref = memory(ada)
    delete(ada, ref)
    context = Context.objects.in_project(apollo).get()
    row_id = int(ref.partition(":")[2])
    Memory.objects.create(pk=row_id, project=apollo, context=context, title="other", content="x")
    assert refusal(ada, ref).code == "conflict"
    assert Memory.objects.in_project(apollo).get().title == "other"
    assert BinItem.objects.in_project(apollo).exists()


def test_a_container_that_is_gone_is_restored_first(ada: Caller, apollo: Project) -> None:
    ref = memory(ada)
    context = f"context:{Context.objects.in_project(apollo).get().pk}"
    delete(ada, ref)
    delete(ada, context)
    refused = refusal(ada, ref)
    assert refused.code == "conflict"
    assert context in refused.message
    assert context in (refused.hint or "")
    assert [row[1] for row in undo(ada, ref, context, dry_run=True)] == ["restored"] * 2
    assert [row[1] for row in undo(ada, ref, context)] == ["restored"] * 2
    assert is_sound(apollo)


def test_a_container_that_is_purged_is_told(ada: Caller, apollo: Project) -> None:
    ref = memory(ada)
    delete(ada, ref)
    delete(ada, "context:shop")
    purge(caller=ada, item_id=BinItem.objects.in_project(apollo).get(kind="context").pk)
    assert refusal(ada, ref).hint is None or "first" not in str(refusal(ada, ref).hint)


def test_the_last_one_of_a_key_comes_back(ada: Caller, apollo: Project) -> None:
    for value in ("one", "two"):
        call(ada, "decision", {"action": "set", "key": "k", "value": value})
        delete(ada, "decision:k")
    undo(ada, "decision:k")
    assert Decision.objects.in_project(apollo).get().value == "two"
    assert refusal(ada, "decision:k").code == "conflict"
    assert refusal(ada, "decision:K").code == "not_found"


def test_two_of_one_name_by_their_ids(ada: Caller, apollo: Project) -> None:
    """The first takes the name; a dry run tells the same."""
    refs = []
    for _ in range(2):
        made = call(ada, "memory", {"action": "context_create", "name": "shop"})
        refs.append(f"context:{made['id']}")
        delete(ada, refs[-1])
    told = [row[1] for row in undo(ada, *refs, dry_run=True)]
    assert [row[1] for row in undo(ada, *refs)] == told == ["conflict", "restored"]


def test_a_column_that_an_older_release_did_not_derive_is_filled(ada: Caller, apollo: Project) -> None:
    decide(ada, "api/auth/method")
    signature = Decision.unscoped.get().signature
    delete(ada, "decision:api/auth/method")
    part = BinPart.unscoped.get()
    contents = unpacked(bytes(part.data))
    for row in contents.rows[Decision]:
        del row["signature"]
    part.data, _ = contents.packed()
    part.save()
    undo(ada, "decision:api/auth/method")
    assert Decision.unscoped.get().signature == signature
    assert [each["key"] for each in find_similar(apollo.pk, "auth/api/method")] == ["api/auth/method"]


def test_a_deleted_tag_is_made_again(ada: Caller, apollo: Project) -> None:
    ref = memory(ada, tags=["rare"])
    delete(ada, ref)
    delete_word(caller=ada, word=Tag.objects.in_project(apollo).get(name="rare"))
    undo(ada, ref)
    row = Memory.objects.in_project(apollo).get()
    assert [tag.name for tag in row.tags.all()] == ["rare"]
    assert is_sound(apollo)


def test_a_deleted_category_is_made_again(ada: Caller, apollo: Project) -> None:
    row_id = add_constraint(caller=ada, category="odd", text="x", layer="data")["id"]
    delete_constraint(caller=ada, constraint_id=row_id)
    delete_word(caller=ada, word=Category.objects.in_project(apollo).get(name="odd"))
    undo(ada, f"constraint:{row_id}")
    assert Constraint.objects.in_project(apollo).get().category.name == "odd"
    assert is_sound(apollo)


def test_a_successor_that_was_set_meanwhile_stays(ada: Caller, apollo: Project) -> None:
    decide(ada, "old", "new", "newer")
    call(ada, "decision", {"action": "deprecate", "key": "old", "superseded_by": "new"})
    delete(ada, "decision:new")
    call(ada, "decision", {"action": "deprecate", "key": "old", "superseded_by": "newer"})
    undo(ada, "decision:new")
    superseded = Decision.objects.in_project(apollo).get(key="old").superseded_by
    assert superseded
    assert superseded.key == "newer"


def test_a_relationship_of_what_is_gone_for_good_is_left_out(ada: Caller, apollo: Project) -> None:
    one, two = memory(ada), memory(ada)
    call(ada, "memory", {"action": "relate", "source": one, "target": two})
    delete(ada, one)
    delete(ada, two)
    purge(caller=ada, item_id=BinItem.objects.in_project(apollo).get(ref=two).pk)
    undo(ada, one)
    assert not Relationship.objects.in_project(apollo).exists()


# -- Who may ---------------------------------------------------------------------------------------


def test_restoring_needs_what_deleting_needs(ada: Caller, ben: Caller, apollo: Project) -> None:
    decide(ada, "k")
    one = memory(ada)
    call(ada, "session", {"action": "save", "session": "s", "summary": "x"})
    delete(ada, "decision:k", one, "session:s")
    member = replace(ben, scopes=frozenset({READ, WRITE}))
    rows = undo(member, "decision:k", "session:s", one)
    assert [row[1] for row in rows] == ["not_allowed", "not_allowed", "restored"]
    own = replace(ada, scopes=frozenset({READ, WRITE}))
    assert undo(own, "session:s")[0][1] == "restored"
    assert undo(replace(ben, scopes=frozenset({ADMIN})), "decision:k")[0][1] == "restored"


def test_readers_learn_what_would_happen(ada: Caller, apollo: Project) -> None:
    ref = memory(ada)
    delete(ada, ref)
    reader = replace(ada, scopes=frozenset({READ}))
    assert isinstance(refusal(reader, ref), NotAllowed)
    assert undo(reader, ref, dry_run=True)[0][1] == "not_allowed"


def test_a_dry_run_changes_nothing(world: Project, ada: Caller) -> None:
    delete(ada, "context:shop", "decision:db/engine")
    before = dump_project(world)
    rows = undo(ada, "context:shop", "decision:db/engine", "memory:999", dry_run=True)
    assert [row[1] for row in rows] == ["restored", "restored", "not_found"]
    assert "2 memories" in rows[0][2]
    assert dump_project(world) == before


def test_for_strangers_it_is_not_there(ada: Caller, cy: Caller, apollo: Project) -> None:
    ref = memory(ada)
    decide(ada, "k")
    delete(ada, ref, "decision:k")
    refused = refusal(cy, ref, "decision:k")
    assert [row[1] for row in refused.details["rows"]] == ["not_found"] * 2
    with pytest.raises(NotFound):
        purge(caller=cy, item_id=BinItem.objects.in_project(apollo).first().pk)  # type: ignore[union-attr]


def test_refs_are_read_as_everywhere(ada: Caller, apollo: Project) -> None:
    assert isinstance(refusal(ada, "nonsense"), InvalidInput)
    assert refusal(ada, "memory:7").code == "not_found"
    with pytest.raises(InvalidInput):
        undo_deletions(caller=ada, refs=[f"memory:{n}" for n in range(51)])
    with pytest.raises(InvalidInput):
        undo_deletions(caller=ada, refs=[])


def test_a_retry_answers_the_first_result(ada: Caller, apollo: Project) -> None:
    ref = memory(ada)
    delete(ada, ref)
    asked = {"refs": [ref], "undo": True}
    first = call(ada, "delete", asked, request_id="r-1")
    assert call(ada, "delete", asked, request_id="r-1") == first
    assert events_of(apollo, ref) == ["created", "deleted", "restored"]


# -- Large ones ------------------------------------------------------------------------------------


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxhub.core.bin import restoring

    monkeypatch.setattr(emptying, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(restoring, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(services, "ROWS_AT_ONCE", 3)


def filled(caller: Caller, count: int) -> list[str]:
    refs = [memory(caller, title=f"t{n}", tags=["a"], paths=[f"p{n}.py"]) for n in range(count)]
    call(caller, "memory", {"action": "relate", "source": refs[0], "target": refs[-1]})
    call(caller, "memory", {"action": "update", "id": int(refs[1].partition(":")[2]), "content": "changed"})
    return refs


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("request_id", [None, "r-1"])
def test_a_large_context_comes_back_in_batches(ada: Caller, apollo: Project, request_id: str | None) -> None:
    filled(ada, 10)
    decide(ada, "k")
    before = unfixed(stored(apollo))
    delete(ada, "context:shop", "decision:k")
    item = BinItem.objects.in_project(apollo).get(kind="context")
    assert item.along == {"memories": 10, "relationships": 1}
    assert item.parts.count() == 4
    refs = ["decision:k", "context:shop", "memory:999"]
    rows = call(ada, "delete", {"refs": refs, "undo": True}, request_id=request_id)["rows"]
    assert [row[1] for row in rows] == ["restored", "restored", "not_found"]
    assert "10 memories" in rows[1][2]
    assert unfixed(stored(apollo)) == before
    assert Context.objects.in_project(apollo).get().memory_count == 10
    assert events_of(apollo, item.ref).count("restored") == 1
    assert not BinItem.objects.in_project(apollo).exists()
    assert is_sound(apollo)


@pytest.mark.usefixtures("small_batches")
def test_a_deletion_that_was_cut_off_is_undone(
    ada: Caller, apollo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(ada, 10)
    before = unfixed(stored(apollo))
    real = emptying._delete_batch
    calls: list[None] = []

    def cut_off(*arguments: Any) -> Any:
        calls.append(None)
        if len(calls) > 2:
            raise RuntimeError("cut off")
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(emptying, "_delete_batch", cut_off)
        with pytest.raises(RuntimeError):
            delete_refs(caller=ada, refs=["context:shop"])
    assert BinItem.objects.in_project(apollo).get().state == BinState.PARTIAL
    assert Memory.objects.in_project(apollo).count() == 4
    assert undo(ada, "context:shop")[0][1] == "restored"
    assert unfixed(stored(apollo)) == before
    assert is_sound(apollo)


@pytest.mark.usefixtures("small_batches")
def test_a_deletion_that_was_cut_off_and_done_is_undone_whole(
    ada: Caller, apollo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(ada, 10)
    before = unfixed(stored(apollo))
    real = emptying._delete_batch
    calls: list[None] = []

    def cut_off(*arguments: Any) -> Any:
        calls.append(None)
        if len(calls) == 2:
            raise RuntimeError("cut off")
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(emptying, "_delete_batch", cut_off)
        with pytest.raises(RuntimeError):
            delete_refs(caller=ada, refs=["context:shop"])
        delete(ada, "context:shop")
    undo(ada, "context:shop")
    assert unfixed(stored(apollo)) == before
    assert is_sound(apollo)


@pytest.mark.usefixtures("small_batches")
def test_many_superseded_decisions_get_their_successor_back(ada: Caller, apollo: Project) -> None:
    decide(ada, "new")
    for n in range(8):
        decide(ada, f"old/{n}")
        call(ada, "decision", {"action": "deprecate", "key": f"old/{n}", "superseded_by": "new"})
    delete(ada, "decision:new")
    assert not Decision.objects.in_project(apollo).exclude(superseded_by=None).exists()
    undo(ada, "decision:new")
    assert Decision.objects.in_project(apollo).filter(superseded_by__key="new").count() == 8
    assert DecisionRevision.objects.in_project(apollo).exists()
    assert is_sound(apollo)


def test_five_hundred_and_more_memories_come_back(ada: Caller, apollo: Project) -> None:
    memory(ada, context="big")
    context = Context.objects.in_project(apollo).get()
    with acting(ada):
        for n in range(600):
            Memory.objects.create(project=apollo, context=context, title=f"t{n}", content="word")
    delete(ada, "context:big")
    assert BinItem.objects.in_project(apollo).get().along == {"memories": 601}
    assert undo(ada, "context:big") == [["context:big", "restored", "with 601 memories"]]
    assert Memory.objects.in_project(apollo).count() == 601
    assert is_sound(apollo)


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("most", [10, 3_000])
def test_what_is_too_large_is_not_kept(
    ada: Caller, apollo: Project, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    filled(ada, 10)
    monkeypatch.setattr(binning, "MOST_BYTES", most)
    [[_, result, note]] = delete(ada, "context:shop")
    assert (result, note) == ("deleted", "with 10 memories, too large for the bin")
    item = BinItem.objects.in_project(apollo).get()
    assert item.state == BinState.NOT_KEPT
    assert not item.parts.exists()
    assert "too large" in refusal(ada, "context:shop").message
    assert is_sound(apollo)


# -- For how long, and what is shown ---------------------------------------------------------------


def test_after_30_days_it_is_gone(ada: Caller, apollo: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = memory(ada), memory(ada)
    delete(ada, one)
    BinItem.objects.in_project(apollo).update(deleted_at=clock.now() - timedelta(days=29, hours=23))
    delete(ada, two)
    assert remove_expired(apollo.pk, clock.now()) == {}
    assert cleanup(apollo.pk).get("binned", 0) == 0
    BinItem.objects.in_project(apollo).filter(ref=one).update(deleted_at=clock.now() - timedelta(days=30))
    assert cleanup(apollo.pk)["binned"] == 1
    assert refusal(ada, one).code == "not_found"
    assert undo(ada, two)[0][1] == "restored"
    assert not BinPart.objects.in_project(apollo).exists()


def test_what_ages_away_is_not_kept(ada: Caller, apollo: Project) -> None:
    call(ada, "message", {"action": "send", "text": "old"})
    call(ada, "session", {"action": "save", "session": "s", "summary": "x"})
    Message.objects.in_project(apollo).update(created_at=clock.now() - timedelta(days=400))
    AgentSession.objects.in_project(apollo).update(updated_at=clock.now() - timedelta(days=4000))
    cleanup(apollo.pk)
    assert not Message.objects.in_project(apollo).exists()
    assert not BinItem.objects.in_project(apollo).exists()


def test_a_deleted_project_leaves_nothing(ada: Caller, apollo: Project) -> None:
    from ctxhub.core.project_deletion import delete_project

    one, _ = memory(ada), memory(ada)
    delete(ada, one)
    delete_project(apollo)
    assert not BinItem.unscoped.exists()
    assert not BinPart.unscoped.exists()


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_titles_hold_no_credentials(ada: Caller, apollo: Project) -> None:
    keeper = replace(ada, keeps_secrets=True)
    with acting(keeper):
        row = Memory.objects.create(
            project=apollo,
            context=Context.objects.create(project=apollo, name="c"),
            title=f"{'x' * 80} {SECRET}",
            content=SECRET,
        )
        row.delete()
    item = BinItem.objects.in_project(apollo).get(kind="memory")
    assert SECRET not in item.title
    assert "ghp_" not in item.title
    [event] = Event.objects.in_project(apollo).filter(verb="deleted")
    assert SECRET not in json.dumps(event.data)


def test_purging_removes_it_at_once(ada: Caller, ben: Caller, apollo: Project) -> None:
    ref = memory(ada)
    delete(ada, ref)
    item = BinItem.objects.in_project(apollo).get()
    with pytest.raises(NotAllowed):
        purge(caller=replace(ben, scopes=frozenset({READ, WRITE})), item_id=item.pk)
    purge(caller=ada, item_id=item.pk)
    assert refusal(ada, ref).code == "not_found"
    assert not BinPart.objects.in_project(apollo).exists()
    assert events_of(apollo, ref) == ["created", "deleted", "purged"]


def test_hostile_texts_come_back_as_they_were(ada: Caller, apollo: Project) -> None:
    text = f"{HOSTILE} %s {{}} \ud7ff \U0010ffff '; DROP TABLE core_binitem; --"
    ref = memory(ada, title=text[:80], content=text, metadata={"n": [1e22, 1.0, None, True, text]})
    before = stored(apollo)["memory_memory"]
    delete(ada, ref)
    undo(ada, ref)
    assert stored(apollo)["memory_memory"] == before


def test_statements_do_not_grow_with_the_number(ada: Caller, apollo: Project) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = []
    for count in (2, 20):
        refs = [memory(ada, tags=["a"], title=f"{count} {n}") for n in range(count)]
        with CaptureQueriesContext(connection) as captured:
            delete(ada, *refs)
        counts.append(len(captured))
    assert counts[0] == counts[1]
