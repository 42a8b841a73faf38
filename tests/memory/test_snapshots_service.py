"""Snapshot services: saving, with what is found automatically, reading and deleting."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.events.counters import Stats
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotAllowed, NotFound
from ctxhub.core.kit.inputs import CONTENT_BYTES
from ctxhub.core.kit.listing import with_arrays
from ctxhub.core.models import Event, Project
from ctxhub.core.search.search import search
from ctxhub.toolbox.dispatch import call
from memory.models import Snapshot, SnapshotDependency, SnapshotTag
from memory.snapshots.queries import get_snapshot, open_snapshots, snapshot_item
from memory.snapshots.services import delete_snapshot, save_snapshot
from sessions.models import AgentSession
from sessions.windows import opening  # noqa: F401  # Says which session a call belongs to.
from tests.memory.snapshots import save
from tests.tables import dump_project

pytestmark = pytest.mark.usefixtures("index_is_kept")

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
CONTENT = "We keep sessions in Redis. A restart loses them."
SUMMARY = "We keep sessions in Redis."
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


def item(caller: Caller, snapshot_id: int) -> dict[str, Any]:
    row = get_snapshot(caller.project_id, snapshot_id)
    item: dict[str, Any] = with_arrays(snapshot_item(caller.project_id, row))
    return item


def automatic(caller: Caller, **rest: Any) -> list[int]:
    """The dependencies that a new snapshot gets."""
    return save_snapshot(caller=caller, content=CONTENT, source="mcp", **rest)["dependencies"]


def last_event(project: Project) -> tuple[str, str, dict[str, Any]]:
    event = Event.objects.in_project(project).order_by("-id")[0]
    return event.noun, event.verb, event.data


# -- Saving ----------------------------------------------------------------------------------------


def test_a_snapshot_stores_all_fields(ada: Caller, clock: time_machine.Traveller) -> None:
    cause, other = save(ada), save(ada)
    answer = save_snapshot(
        caller=ada,
        content=CONTENT,
        summary=" Sessions ",
        action_type="Decision",
        rationale="Speed.",
        caused_by=f"snapshot:{cause}",
        dependencies=[other, other],
        tags=["shop", "API"],
        source="the editor",
        metadata={"files": ["a.py"], "gone": None},
    )
    assert answer == {
        "id": answer["id"],
        "summary": "Sessions",
        "tags": ["api", "shop"],
        "tier": "active",
        "caused_by": cause,
        "dependencies": [other],
    }
    assert item(ada, answer["id"]) == {
        "id": answer["id"],
        "summary": "Sessions",
        "content": CONTENT,
        "action_type": "decision",
        "rationale": "Speed.",
        "caused_by": {"id": cause, "summary": SUMMARY},
        "dependencies": [{"id": other, "summary": SUMMARY}],
        "dependents": 0,
        "tags": ["api", "shop"],
        "source": "the editor",
        "metadata": {"files": ["a.py"]},
        "tier": "active",
        "access_count": 0,
        "last_accessed": None,
        "agent": "ada",
        "at": "2026-03-02T12:00:00Z",
    }
    assert last_event(ada.project) == ("snapshot", "created", {"note": "decision"})
    assert Stats(ada.project_id).of("snapshot") == 3


def test_content_is_enough(ada: Caller) -> None:
    found = item(ada, save(ada, CONTENT, dependencies=None))
    assert (found["summary"], found["action_type"], found["rationale"]) == (CONTENT, "conversation", "")
    assert (found["caused_by"], found["dependencies"], found["tags"]) == (None, [], [])
    assert "session" not in found
    assert "prediction" not in found


@pytest.mark.parametrize(
    ("action", "stored"), [("FILE_EDIT", "file_edit"), (4, "tool_use"), ("5", "research")]
)
def test_an_action_is_a_word_in_any_case_or_a_number(ada: Caller, action: Any, stored: str) -> None:
    assert item(ada, save(ada, action_type=action))["action_type"] == stored


def test_metadata_stand_in_for_absent_arguments(ada: Caller) -> None:
    cause, other = save(ada), save(ada)
    metadata = {
        "actionType": "research",
        "rationale": "Why.",
        "causedBy": cause,
        "dependencies": [f"{other}"],
    }
    found = item(ada, save(ada, metadata=metadata, dependencies=None))
    assert (found["action_type"], found["rationale"], found["metadata"]) == ("research", "Why.", metadata)
    assert found["caused_by"]["id"] == cause
    assert [one["id"] for one in found["dependencies"]] == [other]
    snake = {"action_type": 2, "caused_by": f"snapshot:{cause}"}
    assert item(ada, save(ada, metadata=snake))["action_type"] == "decision"


def test_metadata_without_a_name_are_no_argument(ada: Caller) -> None:
    found = item(ada, save(ada, metadata={"": [100]}, rationale=None, dependencies=None))
    assert (found["rationale"], found["metadata"]) == ("", {"": [100]})


def test_an_argument_wins_over_metadata(ada: Caller) -> None:
    cause, other = save(ada), save(ada)
    metadata = {"action_type": "research", "rationale": "No.", "caused_by": other, "dependencies": [other]}
    found = item(ada, save(ada, metadata=metadata, action_type="decision", rationale="Yes.", caused_by=cause))
    assert (found["action_type"], found["rationale"]) == ("decision", "Yes.")
    assert (found["caused_by"]["id"], found["dependencies"]) == (cause, [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"content": ""}, "content must not be blank"),
        ({"content": " \n "}, "content must not be blank"),
        ({"content": "x" * (CONTENT_BYTES + 1)}, "the limit is 1,048,576"),
        ({"content": "a\0b"}, "content holds a NUL"),
        ({"action_type": "refactor"}, "action_type: 'refactor' is not known"),
        ({"action_type": 6}, "action_type: 6 is not known"),
        ({"caused_by": "agent:ada"}, "ref: 'agent' is not known"),
        ({"caused_by": "template:deprecation"}, "caused_by: 'template' is not known; use one of"),
        ({"caused_by": "the last"}, "caused_by: 'the last' is neither the id of a snapshot nor a ref"),
        ({"dependencies": ["x"]}, r"dependencies\[0\]: 'x' is not the id"),
        ({"dependencies": list(range(1, 52))}, "dependencies has 51 entries; the limit is 50"),
        ({"tags": ["x" * 101]}, "the limit is 100"),
        ({"source": "x" * 101}, "source has 101 characters"),
        ({"summary": TOKEN}, "summary seems to hold a credential"),
        ({"rationale": TOKEN}, "rationale seems to hold a credential"),
        ({"rationale": "x" * 65_537}, "the limit is 65,536"),
        ({"tags": [TOKEN]}, "tags seems to hold a credential"),
        ({"source": TOKEN}, "source seems to hold a credential"),
        ({"metadata": {"key": TOKEN}}, "metadata seems to hold a credential"),
        ({"metadata": {"text": "x" * 65_537}}, "metadata has 65,5"),
        ({"metadata": {"actionType": "refactor"}}, "metadata.actionType: 'refactor' is not known"),
        ({"metadata": {"rationale": 5}}, "metadata.rationale must be a text"),
        ({"metadata": {"causedBy": [1]}}, "metadata.causedBy: .* is neither the id"),
        (
            {"metadata": {"caused_by": True}},
            "metadata.caused_by: True is neither the id",
        ),
        (
            {"dependencies": None, "metadata": {"dependencies": {"react": "18"}}},
            "must be a list of snapshots",
        ),
        ({"session": "x" * 101}, "session has 101 characters"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    ada: Caller, arguments: dict[str, Any], message: str
) -> None:
    before = dump_project(ada.project)
    with pytest.raises(InvalidInput, match=message):
        save(ada, **arguments)
    assert dump_project(ada.project) == before


@pytest.mark.parametrize("unknown", [0, 999_999, 2**63, "snapshot:999999"])
@pytest.mark.parametrize("name", ["caused_by", "dependencies"])
def test_an_unknown_cause_or_dependency_is_refused_and_nothing_is_written(
    ada: Caller, name: str, unknown: Any
) -> None:
    known = save(ada)
    before = dump_project(ada.project)
    given: Any = {name: unknown if name == "caused_by" else [known, unknown]}
    with pytest.raises((NotFound, InvalidInput), match=f"{name}.*snapshot"):
        save(ada, **given)
    assert dump_project(ada.project) == before


def test_another_projects_snapshot_is_no_cause(ada: Caller, cy: Caller) -> None:
    known = save(ada)
    named: list[dict[str, Any]] = [{"caused_by": known}, {"dependencies": [known]}]
    for arguments in named:
        with pytest.raises(NotFound):
            save(cy, **arguments)


def test_credentials_in_the_content_are_masked_and_counted(ada: Caller) -> None:
    answer = save_snapshot(caller=ada, content=f"Push with {TOKEN} now.", source="mcp")
    assert answer["masked"] == 1
    assert answer["summary"] == item(ada, answer["id"])["content"]
    assert "[credential: GitHub token]" in answer["summary"]
    assert TOKEN[:20] not in repr(dump_project(ada.project))


# -- Dependencies ----------------------------------------------------------------------------------


def test_the_five_newest_of_the_agent_become_dependencies(ada: Caller, clock: time_machine.Traveller) -> None:
    ids = []
    for _ in range(7):
        ids.append(save(ada))
        clock.shift(60)
    assert automatic(ada) == ids[:1:-1]


def test_dependencies_reach_an_hour_back_and_not_to_this_moment(
    ada: Caller, clock: time_machine.Traveller
) -> None:
    first = save(ada)
    assert automatic(ada) == []
    clock.move_to(NOON + timedelta(hours=1))
    assert first in automatic(ada)
    clock.move_to(NOON + timedelta(hours=1, microseconds=1))
    assert first not in automatic(ada)


def test_another_agents_snapshots_are_no_automatic_dependencies(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    save(ada)
    clock.shift(60)
    assert automatic(ben) == []


def test_the_cause_is_not_repeated_among_the_dependencies(ada: Caller, clock: time_machine.Traveller) -> None:
    ids = []
    for _ in range(6):
        ids.append(save(ada))
        clock.shift(60)
    assert automatic(ada, caused_by=ids[5]) == ids[4::-1]


def test_no_dependencies_are_no_dependencies(ada: Caller, clock: time_machine.Traveller) -> None:
    save(ada)
    clock.shift(60)
    assert automatic(ada, dependencies=[]) == []
    assert automatic(ada, metadata={"dependencies": []}) == []


# -- Tags and session ------------------------------------------------------------------------------


def test_tags_of_the_project_that_the_content_is_about_are_found(ada: Caller) -> None:
    save(ada, tags=["Redis Cluster", "billing"])
    content = "The errors are handled; the cluster of Redis caches."
    found = save_snapshot(caller=ada, content=content, source="mcp")["tags"]
    assert found == ["caching", "error-handling", "Redis Cluster"]


def test_at_most_five_tags_are_found_those_of_the_rarest_words(ada: Caller) -> None:
    common = ["api", "database", "security"]
    for _ in range(5):
        save(ada, "The api and the database have security.", tags=[])
    content = "api database security testing validation logging caching performance"
    found = save_snapshot(caller=ada, content=content, source="mcp")["tags"]
    assert found == ["caching", "logging", "performance", "testing", "validation"]
    assert not set(found) & set(common)


def test_tags_are_not_found_where_the_caller_says_them(ada: Caller) -> None:
    assert item(ada, save(ada, "caching", tags=[]))["tags"] == []
    assert item(ada, save(ada, "caching", tags=["shop"]))["tags"] == ["shop"]


def test_a_snapshot_keeps_the_session_that_the_call_names(ada: Caller, ben: Caller) -> None:
    found = item(ada, save(ada, session="window 1"))
    [session] = AgentSession.objects.in_project(ada.project)
    assert (found["session"], session.name) == (session.pk, "window 1")
    assert item(ada, save(ada.in_session(session.pk)))["session"] == session.pk
    with pytest.raises(NotAllowed):
        save(ben, session=session.pk)
    with pytest.raises(NotFound):
        save(ada, session=session.pk + 1)


def test_a_call_without_a_session_opens_none(ada: Caller) -> None:
    save(ada)
    assert not AgentSession.objects.in_project(ada.project).exists()


# -- Opening ---------------------------------------------------------------------------------------


def test_refs_open_snapshots_whole_or_as_a_digest(ada: Caller, cy: Caller) -> None:
    cause = save(ada)
    row_id = save(ada, caused_by=cause, action_type="decision")
    full = open_snapshots(ada.project_id, [str(row_id)], True)[str(row_id)]
    assert full == snapshot_item(ada.project_id, get_snapshot(ada.project_id, row_id))
    digest = open_snapshots(ada.project_id, [str(row_id)], False)[str(row_id)]
    assert digest == {name: full[name] for name in ("summary", "action_type", "tier", "at")} | {
        "caused_by": cause
    }
    assert open_snapshots(cy.project_id, [str(row_id), "x"], True) == {}


def test_dependents_are_counted_once_each(ada: Caller) -> None:
    base = save(ada)
    save(ada, caused_by=base, dependencies=[base])
    save(ada, dependencies=[base])
    assert item(ada, base)["dependents"] == 2


def test_a_search_finds_summary_rationale_content_and_tags(ada: Caller) -> None:
    row_id = save(ada, "Kiwi.", summary="Papaya", rationale="Mango", tags=["lychee"])
    for word in ("kiwi", "papaya", "mango", "lychee"):
        assert [hit.ref for hit in search(ada.project_id, word).hits] == [f"snapshot:{row_id}"]


def test_a_long_summary_is_found_to_its_end(ada: Caller) -> None:
    row_id = save(ada, "Kiwi.", summary=f"{'word ' * 400}papaya")
    assert [hit.ref for hit in search(ada.project_id, "papaya").hits] == [f"snapshot:{row_id}"]


# -- Deleting --------------------------------------------------------------------------------------


def test_a_deleted_snapshot_is_gone_and_what_rested_on_it_stays(ada: Caller) -> None:
    base = save(ada, tags=["api"])
    effect, dependent = save(ada, caused_by=base), save(ada, dependencies=[base])
    assert delete_snapshot(caller=ada, snapshot_id=base) == {"deleted": f"snapshot:{base}", "children": 2}
    assert last_event(ada.project) == ("snapshot", "deleted", {"note": "conversation"})
    assert not Snapshot.objects.in_project(ada.project).filter(pk=base).exists()
    assert not SnapshotTag.objects.in_project(ada.project).exists()
    assert not SnapshotDependency.objects.in_project(ada.project).exists()
    assert item(ada, effect)["caused_by"] is None
    assert item(ada, dependent)["dependencies"] == []
    assert Stats(ada.project_id).of("snapshot") == 2


@pytest.mark.parametrize("snapshot_id", [0, 999_999, 2**63])
def test_an_unknown_snapshot_cannot_be_deleted(ada: Caller, snapshot_id: int) -> None:
    with pytest.raises(NotFound, match="There is no snapshot"):
        delete_snapshot(caller=ada, snapshot_id=snapshot_id)


def test_another_project_can_neither_read_nor_delete_it(ada: Caller, cy: Caller) -> None:
    row_id = save(ada)
    before = dump_project(ada.project)
    with pytest.raises(NotFound):
        delete_snapshot(caller=cy, snapshot_id=row_id)
    for action in ("get", "why", "chain", "impact"):
        with pytest.raises(NotFound):
            call(cy, "snapshot", {"action": action, "id": row_id})
    assert call(cy, "snapshot", {"action": "list"})["count"] == 0
    assert dump_project(ada.project) == before


# -- Writing through the ORM -----------------------------------------------------------------------


def test_a_snapshot_changed_through_the_orm_is_indexed_and_logged(ada: Caller) -> None:
    row_id = save(ada)
    snapshot = Snapshot.objects.in_project(ada.project).get(pk=row_id)
    snapshot.summary = "Papaya"
    snapshot.save()
    assert last_event(ada.project) == ("snapshot", "updated", {"changed": ["summary"]})
    assert [hit.ref for hit in search(ada.project_id, "papaya").hits] == [f"snapshot:{row_id}"]
    snapshot.delete()
    assert last_event(ada.project)[:2] == ("snapshot", "deleted")


def test_a_count_of_accesses_is_no_change(ada: Caller) -> None:
    row_id = save(ada)
    snapshot = Snapshot.objects.in_project(ada.project).get(pk=row_id)
    snapshot.access_count = 5
    snapshot.save()
    assert last_event(ada.project)[1] == "created"
