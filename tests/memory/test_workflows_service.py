"""Workflow services: creating, changing, closing, deleting and listing."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput, NotFound
from ctxhub.core.kit.unset import UNSET
from ctxhub.core.models import Event, SearchEntry
from memory.models import Scratchpad, ScratchpadRevision, Workflow
from memory.scratchpads.services import (
    append_to_scratchpad,
    create_scratchpad,
    delete_scratchpad,
    restore_scratchpad,
    update_scratchpad,
)
from memory.workflows.queries import get_workflow, list_workflows, workflow_item
from memory.workflows.services import close_workflow, create_workflow, delete_workflow, update_workflow
from tests.memory.pads import assert_counters_are_right, events_of, new_workflow, pad_of, stored

pytestmark = pytest.mark.usefixtures("index_is_kept")

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def names(caller: Caller, **query: Any) -> list[str]:
    return [row["name"] for row in list_workflows(caller.project_id, **query).objects()]


# -- Creating --------------------------------------------------------------------------------------


def test_creating_a_workflow_returns_its_id_and_time(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):
        answer = create_workflow(caller=ada, name="Code Refactoring Task")
    row = get_workflow(ada.project_id, answer["workflow_id"])
    assert answer == {"workflow_id": row.id, "created_at": "2026-11-21T12:00:00Z"}
    assert (row.name, row.metadata, row.is_active, row.agent) == ("Code Refactoring Task", {}, True, "ada")


@pytest.mark.parametrize("name", [None, "", "  \n"])
def test_a_workflow_needs_no_name(ada: Caller, name: str | None) -> None:
    assert get_workflow(ada.project_id, new_workflow(ada, name)).name == ""
    assert_counters_are_right(ada.project)


def test_a_name_is_stripped_and_composed(ada: Caller) -> None:
    assert get_workflow(ada.project_id, new_workflow(ada, "  cafe\u0301 ")).name == "caf\u00e9"


@pytest.mark.parametrize("metadata", [{"keep": "never"}, {"keep": "Never"}, {"keep": True}])
def test_metadata_can_exempt_a_workflow_from_cleanup(ada: Caller, metadata: dict[str, Any]) -> None:
    assert Workflow.unscoped.get(pk=new_workflow(ada, metadata=metadata)).is_kept


@pytest.mark.parametrize("metadata", [{}, {"keep": "7d"}, {"keep": False}, {"keep": 1}, {"keep": ["never"]}])
def test_other_metadata_does_not_exempt_it(ada: Caller, metadata: dict[str, Any]) -> None:
    assert not Workflow.unscoped.get(pk=new_workflow(ada, metadata=metadata)).is_kept


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "x" * 201}, "201 characters"),
        ({"name": "a\x00"}, "NUL"),
        ({"name": "ghp_" + "a1B2" * 9}, "credential"),
        ({"metadata": {"a": "x" * 70_000}}, "65,536"),
        ({"metadata": {"a": "\x00"}}, "NUL"),
        ({"metadata": {"token": "ghp_" + "a1B2" * 9}}, "credential"),
    ],
)
def test_invalid_values_are_refused(ada: Caller, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        create_workflow(caller=ada, **arguments)
    assert not Workflow.objects.in_project(ada.project).exists()


# -- Changing --------------------------------------------------------------------------------------


def test_omitted_fields_stay(ada: Caller) -> None:
    row_id = new_workflow(ada, "old", metadata={"team": "payments"})
    assert update_workflow(caller=ada, workflow_id=row_id, name="new")["result"] == "updated"
    row = get_workflow(ada.project_id, row_id)
    assert (row.name, row.metadata, row.is_active) == ("new", {"team": "payments"}, True)


def test_metadata_merges_and_null_removes(ada: Caller) -> None:
    row_id = new_workflow(ada, metadata={"a": 1, "b": 2, "keep": "never"})
    update_workflow(caller=ada, workflow_id=row_id, metadata={"b": 3, "keep": None})
    assert get_workflow(ada.project_id, row_id).metadata == {"a": 1, "b": 3}
    assert not Workflow.unscoped.get(pk=row_id).is_kept


@pytest.mark.parametrize(("value", "expected"), [({}, {"a": 1}), (None, {}), (UNSET, {"a": 1})])
def test_null_clears_the_metadata(ada: Caller, value: Any, expected: dict[str, Any]) -> None:
    row_id = new_workflow(ada, metadata={"a": 1})
    update_workflow(caller=ada, workflow_id=row_id, metadata=value)
    assert get_workflow(ada.project_id, row_id).metadata == expected


def test_merged_metadata_beyond_the_limit_is_refused(ada: Caller) -> None:
    row_id = new_workflow(ada, metadata={"a": "x" * 40_000})
    with pytest.raises(InvalidInput, match="65,536"):
        update_workflow(caller=ada, workflow_id=row_id, metadata={"b": "x" * 40_000})


def test_an_update_with_the_stored_values_changes_nothing(ada: Caller) -> None:
    row_id = new_workflow(ada, "same", metadata={"a": 1})
    answer = update_workflow(caller=ada, workflow_id=row_id, name=" same ", metadata={"a": 1}, active=True)
    assert answer == {"workflow_id": row_id, "active": True, "result": "unchanged"}
    assert events_of(ada.project, "workflow") == ["created"]


@pytest.mark.parametrize("row_id", [0, -1, 999_999, 2**63, 10**40])
def test_an_unknown_workflow_cannot_be_changed(ada: Caller, row_id: int) -> None:
    for change in (
        lambda: update_workflow(caller=ada, workflow_id=row_id, name="x"),
        lambda: close_workflow(caller=ada, workflow_id=row_id),
        lambda: delete_workflow(caller=ada, workflow_id=row_id),
        lambda: create_scratchpad(caller=ada, workflow_id=row_id, name="x"),
    ):
        with pytest.raises(NotFound):
            change()


# -- Closing ---------------------------------------------------------------------------------------


def test_closing_and_reopening_are_idempotent(ada: Caller) -> None:
    row_id = new_workflow(ada)
    answers = [
        close_workflow(caller=ada, workflow_id=row_id, reopen=reopen) for reopen in (False, False, True, True)
    ]
    assert [answer["result"] for answer in answers] == ["updated", "unchanged", "updated", "unchanged"]
    assert [answer["active"] for answer in answers] == [False, False, True, True]
    assert events_of(ada.project, "workflow") == ["created", "closed", "reopened"]


def test_the_pads_of_a_closed_workflow_are_read_only(ada: Caller) -> None:
    workflow = new_workflow(ada)
    pad = pad_of(ada, "text", workflow=workflow)
    close_workflow(caller=ada, workflow_id=workflow)
    for write in (
        lambda: create_scratchpad(caller=ada, workflow_id=workflow, name="other"),
        lambda: append_to_scratchpad(caller=ada, scratchpad_id=pad, content="x"),
        lambda: update_scratchpad(caller=ada, scratchpad_id=pad, content="x"),
        lambda: restore_scratchpad(caller=ada, scratchpad_id=pad, revision=1),
        lambda: delete_scratchpad(caller=ada, scratchpad_id=pad),
    ):
        with pytest.raises(Conflict, match="is closed") as refused:
            write()
        assert "reopen=true" in refused.value.hint
    assert stored(pad).content == "text"
    close_workflow(caller=ada, workflow_id=workflow, reopen=True)
    append_to_scratchpad(caller=ada, scratchpad_id=pad, content="x", separator=" ")
    assert stored(pad).content == "text x"


def test_the_active_filter_finds_closed_workflows(ada: Caller) -> None:
    close_workflow(caller=ada, workflow_id=new_workflow(ada, "tidying"))
    assert names(ada, active=False) == ["tidying"]
    assert names(ada, active=True) == []


# -- Deleting --------------------------------------------------------------------------------------


def test_deleting_a_workflow_deletes_its_pads_and_revisions(ada: Caller) -> None:
    going, staying = new_workflow(ada, "going"), new_workflow(ada, "staying")
    for n in range(3):
        pad = pad_of(ada, f"eagle {n}", workflow=going)
        update_scratchpad(caller=ada, scratchpad_id=pad, content="other")
    remaining = pad_of(ada, "kept", workflow=staying)
    close_workflow(caller=ada, workflow_id=going)
    answer = delete_workflow(caller=ada, workflow_id=going)
    assert answer == {"deleted": f"workflow:{going}", "scratchpads": 3}
    assert list(Scratchpad.objects.in_project(ada.project).values_list("pk", flat=True)) == [remaining]
    assert ScratchpadRevision.objects.in_project(ada.project).count() == 1
    assert SearchEntry.objects.in_project(ada.project).count() == 2
    assert_counters_are_right(ada.project)


def test_deleting_a_workflow_is_one_event_with_the_number_of_pads(ada: Caller) -> None:
    workflow = new_workflow(ada)
    pad_of(ada, workflow=workflow)
    delete_workflow(caller=ada, workflow_id=workflow)
    last = Event.objects.in_project(ada.project).latest("pk")
    assert (last.verb, last.ref, last.data["scratchpads"]) == ("deleted", f"workflow:{workflow}", 1)
    assert events_of(ada.project, "scratchpad") == ["created"]


# -- Lists -----------------------------------------------------------------------------------------


def test_the_last_written_workflow_is_first(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False) as time:
        ids = []
        for name in ("a", "b", "c"):
            ids.append(new_workflow(ada, name))
            time.shift(timedelta(seconds=1))
        pad = pad_of(ada, workflow=ids[0])
        assert names(ada) == ["a", "c", "b"]
        time.shift(timedelta(seconds=1))
        update_workflow(caller=ada, workflow_id=ids[1], name="B")
        assert names(ada) == ["B", "a", "c"]
        time.shift(timedelta(seconds=1))
        append_to_scratchpad(caller=ada, scratchpad_id=pad, content="x")
        assert names(ada) == ["a", "B", "c"]


@pytest.mark.parametrize("write", ["create", "append", "update", "restore", "delete"])
def test_every_write_of_a_pad_touches_its_workflow(ada: Caller, write: str) -> None:
    with time_machine.travel(NOON, tick=False) as time:
        workflow = new_workflow(ada)
        pad = pad_of(ada, "text", workflow=workflow)
        update_scratchpad(caller=ada, scratchpad_id=pad, content="other")
        time.shift(timedelta(minutes=5))
        writes: dict[str, Callable[[], Any]] = {
            "create": lambda: create_scratchpad(caller=ada, workflow_id=workflow, name="x"),
            "append": lambda: append_to_scratchpad(caller=ada, scratchpad_id=pad, content="x"),
            "update": lambda: update_scratchpad(caller=ada, scratchpad_id=pad, content="x"),
            "restore": lambda: restore_scratchpad(caller=ada, scratchpad_id=pad, revision=1),
            "delete": lambda: delete_scratchpad(caller=ada, scratchpad_id=pad),
        }
        writes[write]()
    assert workflow_item(get_workflow(ada.project_id, workflow))["updated_at"] == "2026-11-21T12:05:00Z"


def test_pages_continue_without_a_gap_or_a_duplicate(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False):  # All at one moment: the id decides.
        for n in range(5):
            new_workflow(ada, f"w{n}")
    first = list_workflows(ada.project_id, limit=2)
    second = list_workflows(ada.project_id, limit=2, cursor=first.next)
    third = list_workflows(ada.project_id, limit=2, cursor=second.next)
    found = [row["name"] for page in (first, second, third) for row in page.objects()]
    assert found == ["w4", "w3", "w2", "w1", "w0"]
    assert third.next is None
    assert [page.extra["total"] for page in (first, second, third)] == [5, 5, 5]


@pytest.mark.parametrize("cursor", ["x", "W10", "e30", "bnVsbA"])
def test_an_invalid_cursor_is_refused(ada: Caller, cursor: str) -> None:
    with pytest.raises(InvalidInput, match="cursor"):
        list_workflows(ada.project_id, cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 201, 10**30])
def test_an_invalid_limit_is_refused(ada: Caller, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        list_workflows(ada.project_id, limit=limit)


@pytest.mark.parametrize(
    "text",
    ["refactoring", "payments", "team payments", "效能", "code_analysis", "bottleneck", '"slow query"'],
)
def test_text_searches_name_metadata_and_pads(ada: Caller, text: str) -> None:
    workflow = new_workflow(ada, "Refactoring", metadata={"team": "payments"})
    pad_of(ada, "效能瓶頸 bottleneck\na slow query", workflow=workflow)
    new_workflow(ada, "Another")
    assert names(ada, text=text) == ["Refactoring"]


@pytest.mark.parametrize("text", ["nothing", "refactoring bottleneck", "refactoring -refactoring"])
def test_all_words_must_match_in_one_place(ada: Caller, text: str) -> None:
    pad_of(ada, "bottleneck", workflow=new_workflow(ada, "Refactoring"))
    assert names(ada, text=text) == []


def test_text_and_active_narrow_together(ada: Caller) -> None:
    closed = new_workflow(ada, "eagle closed")
    new_workflow(ada, "eagle open")
    close_workflow(caller=ada, workflow_id=closed)
    assert names(ada, text="eagle", active=True) == ["eagle open"]
    assert names(ada, text="eagle", active=False) == ["eagle closed"]


def test_another_projects_workflows_are_not_found(ada: Caller, cy: Caller) -> None:
    row_id = new_workflow(ada, "moonshot")
    assert names(cy) == names(cy, text="moonshot") == []
    with pytest.raises(NotFound):
        get_workflow(cy.project_id, row_id)
