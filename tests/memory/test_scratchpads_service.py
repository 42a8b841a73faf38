"""Scratchpad services: content and its limit, appending, editing, conflicts, deleting."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput, LimitReached, NotFound
from ctxhub.core.models import Event
from memory.scratchpads.queries import get_scratchpad, list_scratchpads
from memory.scratchpads.services import (
    append_to_scratchpad,
    create_scratchpad,
    delete_scratchpad,
    restore_scratchpad,
    update_scratchpad,
)
from tests.memory.pads import (
    LIMIT,
    assert_counters_are_right,
    content_of,
    events_of,
    new_workflow,
    pad_of,
    stored,
)

pytestmark = pytest.mark.usefixtures("index_is_kept")

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
KEY = "ghp_" + "a1B2" * 9


def append(caller: Caller, pad: int, content: str, **rest: Any) -> Any:
    return append_to_scratchpad(caller=caller, scratchpad_id=pad, content=content, **rest)


def update(caller: Caller, pad: int, content: str, **rest: Any) -> Any:
    return update_scratchpad(caller=caller, scratchpad_id=pad, content=content, **rest)


# -- Creating --------------------------------------------------------------------------------------


def test_creating_a_pad_returns_its_id_and_time(ada: Caller) -> None:
    workflow = new_workflow(ada)
    with time_machine.travel(NOON, tick=False):
        made = create_scratchpad(caller=ada, workflow_id=workflow, name="notes", content="效能")
    row = get_scratchpad(ada.project_id, made["scratchpad_id"])
    assert made == {"scratchpad_id": row.id, "created_at": "2026-11-21T12:00:00Z"}
    assert (row.name, row.content, row.length, row.size) == ("notes", "效能", 2, 6)
    assert (row.workflow_id, row.revision, row.agent) == (workflow, 1, "ada")


def test_a_pad_may_be_empty_and_two_may_have_one_name(ada: Caller) -> None:
    workflow = new_workflow(ada)
    first, second = (pad_of(ada, workflow=workflow) for _ in range(2))
    assert first != second
    assert content_of(first) == content_of(second) == ""
    assert_counters_are_right(ada.project)


@pytest.mark.parametrize("text", ["a\r\nb\r\n", "\n\n", " x ", "\ufeffBOM", "e\u0301", "👩‍👩‍👧"])
def test_a_text_is_stored_unchanged(ada: Caller, text: str) -> None:
    assert get_scratchpad(ada.project_id, pad_of(ada, text)).content == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "name must not be blank"),
        ({"name": " "}, "name must not be blank"),
        ({"name": "x" * 201}, "201 characters"),
        ({"name": "x\x00"}, "NUL"),
        ({"name": KEY}, "credential"),
        ({"content": "x\x00"}, "NUL"),
        ({"content": "\ud83d"}, "surrogate"),
        ({"content": f"token {KEY}"}, "credential"),
    ],
)
def test_invalid_values_are_refused(ada: Caller, arguments: dict[str, str], message: str) -> None:
    workflow = new_workflow(ada)
    with pytest.raises(InvalidInput, match=message):
        create_scratchpad(caller=ada, workflow_id=workflow, **{"name": "x", **arguments})
    assert list_scratchpads(ada.project_id, workflow).rows == []


def test_the_51st_pad_is_too_many(ada: Caller) -> None:
    workflow = new_workflow(ada)
    pads = [pad_of(ada, workflow=workflow) for _ in range(50)]
    with pytest.raises(LimitReached, match="the limit is 50"):
        pad_of(ada, workflow=workflow)
    delete_scratchpad(caller=ada, scratchpad_id=pads[7])
    pad_of(ada, workflow=workflow)
    assert len(list_scratchpads(ada.project_id, workflow).rows) == 50


# -- Truncation ------------------------------------------------------------------------------------


def test_content_that_is_too_long_is_cut_with_a_warning(ada: Caller) -> None:
    made = create_scratchpad(
        caller=ada, workflow_id=new_workflow(ada), name="long", content="x" * (LIMIT + 1_234)
    )
    assert stored(made["scratchpad_id"]).size == LIMIT
    assert made["warning"] == "A pad holds 1,048,576 bytes: the last 1,234 were cut off."


def test_a_text_that_just_fits_is_not_cut(ada: Caller) -> None:
    made = create_scratchpad(caller=ada, workflow_id=new_workflow(ada), name="long", content="x" * LIMIT)
    assert "warning" not in made


@pytest.mark.parametrize(
    ("character", "left"), [("🙂", 1), ("🙂", 2), ("🙂", 3), ("快", 1), ("快", 2), ("é", 1)]
)
def test_no_character_is_cut_in_two(ada: Caller, character: str, left: int) -> None:
    text = "x" * (LIMIT - left) + character
    made = create_scratchpad(caller=ada, workflow_id=new_workflow(ada), name="long", content=text)
    assert content_of(made["scratchpad_id"]) == "x" * (LIMIT - left)
    assert f"the last {len(character.encode())} were" in made["warning"]


def test_an_append_is_cut_where_the_pad_is_full(ada: Caller) -> None:
    pad = pad_of(ada, "x" * (LIMIT - 10))
    answer = append(ada, pad, "0123456789")
    assert content_of(pad).endswith("xx\n\n01234567")
    assert answer["new_length"] == LIMIT == stored(pad).size
    assert answer["warning"] == "A pad holds 1,048,576 bytes: the last 2 were cut off."


@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_separator_is_not_added_alone(ada: Caller, left: int) -> None:
    pad = pad_of(ada, "x" * (LIMIT - left))
    answer = append(ada, pad, "0123456789")
    assert (answer["new_length"], stored(pad).revision) == (LIMIT - left, 1)
    assert "the last 10 were cut off" in answer["warning"]
    assert events_of(ada.project, "scratchpad") == ["created"]


def test_a_pad_made_too_long_by_an_edit_is_cut_at_its_end(ada: Caller) -> None:
    pad = pad_of(ada, "x" * (LIMIT - 4) + "\nend")
    answer = update(ada, pad, "12345", mode="insert", line=1)
    assert content_of(pad).startswith("12345\nxxx")
    assert answer["new_length"] == LIMIT
    assert answer["warning"].endswith("the last 6 were cut off.")


def test_a_text_of_more_than_sixteen_pads_is_refused(ada: Caller) -> None:
    with pytest.raises(InvalidInput, match="16,777,216"):
        create_scratchpad(caller=ada, workflow_id=new_workflow(ada), name="x", content="x" * (16 * LIMIT + 1))


# -- Appending -------------------------------------------------------------------------------------


def test_an_append_is_separated_by_a_blank_line(ada: Caller, ben: Caller) -> None:
    pad = pad_of(ada, "first")
    with time_machine.travel(NOON, tick=False):
        answer = append(ben, pad, "第二")
    assert content_of(pad) == "first\n\n第二"
    assert answer == {"updated_at": "2026-11-21T12:00:00Z", "new_length": 9}
    assert (stored(pad).length, stored(pad).size, stored(pad).revision) == (9, 13, 2)


def test_the_first_append_has_no_separator(ada: Caller) -> None:
    pad = pad_of(ada)
    append(ada, pad, "first")
    append(ada, pad, "second", separator="\r\n---\r\n")
    append(ada, pad, "third", separator="")
    assert content_of(pad) == "first\r\n---\r\nsecondthird"


def test_an_absent_separator_is_a_blank_line(ada: Caller) -> None:
    pad = pad_of(ada, "first")
    append(ada, pad, "second", separator=None)
    assert content_of(pad) == "first\n\nsecond"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"content": ""}, "content must not be empty"),
        ({"content": "x\x00"}, "NUL"),
        ({"content": KEY}, "credential"),
        ({"content": "x", "separator": "\x00"}, "NUL"),
        ({"content": "x", "separator": "-" * 65_537}, "65,536"),
    ],
)
def test_invalid_appends_are_refused(ada: Caller, arguments: dict[str, str], message: str) -> None:
    pad = pad_of(ada, "text")
    with pytest.raises(InvalidInput, match=message):
        append(ada, pad, **arguments)
    assert content_of(pad) == "text"


def test_an_append_is_found_at_once_also_in_a_long_pad(ada: Caller) -> None:
    """The fixture compares the index with the text."""
    pad = pad_of(ada, "alpha " * 3_000)
    for n in range(5):
        append(ada, pad, f"beta{n} " * 300)
    append(ada, pad, "ends", separator="")
    assert stored(pad).length == len(content_of(pad))


def test_an_append_of_the_next_day_is_found_too(ada: Caller) -> None:
    with time_machine.travel(NOON, tick=False) as time:
        pad = pad_of(ada, "alpha " * 3_000)
        time.shift(timedelta(days=1))
        append(ada, pad, "beta")


# -- Editing and conflicts -------------------------------------------------------------------------


def test_an_edit_returns_the_new_length_and_revision(ada: Caller) -> None:
    pad = pad_of(ada, "old")
    with time_machine.travel(NOON, tick=False):
        answer = update(ada, pad, "brand new")
    updated = {"updated_at": "2026-11-21T12:00:00Z", "new_length": 9, "revision": 2}
    assert answer == {**updated, "mode": "replace", "result": "updated"}
    assert content_of(pad) == "brand new"


def test_the_same_text_again_changes_nothing(ada: Caller) -> None:
    pad = pad_of(ada, "same")
    before = stored(pad).updated_at
    answer = update(ada, pad, "same")
    assert (answer["result"], answer["revision"], answer["new_length"]) == ("unchanged", 1, 4)
    assert stored(pad).updated_at == before
    assert events_of(ada.project, "scratchpad") == ["created"]


def test_a_pad_can_be_cleared(ada: Caller) -> None:
    pad = pad_of(ada, "old")
    assert update(ada, pad, "")["new_length"] == 0
    assert content_of(pad) == ""


@pytest.mark.parametrize("arguments", [{"mode": "replace"}, {"mode": "insert", "line": 1}])
def test_another_length_than_expected_is_a_conflict(
    ada: Caller, ben: Caller, arguments: dict[str, Any]
) -> None:
    pad = pad_of(ada, "old")
    append(ben, pad, "meanwhile")
    with pytest.raises(Conflict, match="14 characters, not 3") as refused:
        update(ada, pad, "new", expected_length=3, **arguments)
    assert refused.value.details["current"] == {"length": 14, "revision": 2}
    assert content_of(pad) == "old\n\nmeanwhile"
    assert update(ada, pad, "new", expected_length=14, **arguments)["result"] == "updated"


def test_a_restore_checks_the_expected_length(ada: Caller) -> None:
    pad = pad_of(ada, "old")
    update(ada, pad, "newer")
    with pytest.raises(Conflict):
        restore_scratchpad(caller=ada, scratchpad_id=pad, revision=1, expected_length=3)
    restore_scratchpad(caller=ada, scratchpad_id=pad, revision=1, expected_length=5)
    assert content_of(pad) == "old"


@pytest.mark.parametrize("expected", [-1, 2**63, 10**40])
def test_an_impossible_length_is_a_conflict(ada: Caller, expected: int) -> None:
    with pytest.raises(Conflict):
        update(ada, pad_of(ada, "old"), "new", expected_length=expected)


def test_an_edit_to_the_same_text_checks_the_expected_length(ada: Caller) -> None:
    with pytest.raises(Conflict):
        update(ada, pad_of(ada, "same"), "same", expected_length=1)


# -- Deleting and unknown pads ---------------------------------------------------------------------


def test_deleting_a_pad_leaves_an_event(ada: Caller) -> None:
    pad = pad_of(ada, "text", name="notes")
    assert delete_scratchpad(caller=ada, scratchpad_id=pad) == {"deleted": f"scratchpad:{pad}"}
    last = Event.objects.in_project(ada.project).latest("pk")
    assert (last.verb, last.ref, last.data["note"]) == ("deleted", f"scratchpad:{pad}", "notes")
    assert_counters_are_right(ada.project)


WRITES: list[Callable[[Caller, int], Any]] = [
    lambda caller, pad: append(caller, pad, "x"),
    lambda caller, pad: update(caller, pad, "x"),
    lambda caller, pad: restore_scratchpad(caller=caller, scratchpad_id=pad, revision=1),
    lambda caller, pad: delete_scratchpad(caller=caller, scratchpad_id=pad),
]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("pad", [0, -1, 999_999, 2**63, 10**40])
def test_an_unknown_pad_cannot_be_written_to(
    ada: Caller, write: Callable[[Caller, int], Any], pad: int
) -> None:
    with pytest.raises(NotFound, match="There is no scratchpad"):
        write(ada, pad)


@pytest.mark.parametrize("write", WRITES)
def test_another_projects_pad_cannot_be_written_to(
    ada: Caller, cy: Caller, write: Callable[[Caller, int], Any]
) -> None:
    pad = pad_of(ada, "text")
    with pytest.raises(NotFound):
        write(cy, pad)
    assert content_of(pad) == "text"


# -- Events ----------------------------------------------------------------------------------------


def test_every_write_leaves_one_event_without_the_text(ada: Caller) -> None:
    pad = pad_of(ada, "moonshot")
    append(ada, pad, "moonshot")
    update(ada, pad, "moonshot 2")
    restore_scratchpad(caller=ada, scratchpad_id=pad, revision=1)
    delete_scratchpad(caller=ada, scratchpad_id=pad)
    verbs = ["created", "appended", "updated", "restored", "deleted"]
    assert events_of(ada.project, "scratchpad") == verbs
    events = Event.objects.in_project(ada.project).filter(noun="scratchpad")
    assert "moonshot" not in str(list(events.values_list("data", flat=True)))
