"""Workflows that nobody writes to any more go with all that is in them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command

from ctxhub.core.accounts.services.config import set_config
from ctxhub.core.events.services import cleanup as retention
from ctxhub.core.events.services.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, SearchEntry
from memory.models import Scratchpad, ScratchpadRevision, Workflow
from memory.scratchpads.services import workflows
from memory.scratchpads.services.scratchpads import append_to_scratchpad, update_scratchpad
from memory.scratchpads.services.workflows import close_workflow, update_workflow
from tests.memory.pads import begin, figures_are_right, pad_of

pytestmark = pytest.mark.usefixtures("index_is_kept")

MONDAY = datetime(2026, 1, 5, 10, tzinfo=UTC)
DAYS = timedelta(days=1)


@pytest.fixture(autouse=True)
def time() -> Iterator[Any]:
    with time_machine.travel(MONDAY, tick=False) as traveller:
        yield traveller


def left(caller: Caller) -> list[str]:
    figures_are_right(caller.project)
    return list(Workflow.objects.in_project(caller.project).order_by("pk").values_list("name", flat=True))


def cleaned(caller: Caller) -> list[dict[str, Any]]:
    events = Event.objects.in_project(caller.project).filter(verb="cleaned").order_by("pk")
    return [event.data for event in events]


def test_a_workflow_lasts_seven_days_from_the_last_write(ada: Caller, time: Any) -> None:
    begin(ada, "still")
    pad = pad_of(ada, "x", workflow=begin(ada, "written to"))
    time.shift(6 * DAYS)
    append_to_scratchpad(caller=ada, scratchpad_id=pad, content="y")
    time.shift(DAYS)
    assert cleanup(ada.project_id).get("workflows", 0) == 0
    time.shift(timedelta(seconds=1))
    assert cleanup(ada.project_id)["workflows"] == 1
    assert left(ada) == ["written to"]


def test_all_that_was_in_it_goes_too(ada: Caller, time: Any) -> None:
    workflow = begin(ada)
    for n in range(3):
        pad = pad_of(ada, f"eagle {n}", workflow=workflow)
        update_scratchpad(caller=ada, scratchpad_id=pad, content="other")
    time.shift(8 * DAYS)
    assert cleanup(ada.project_id) == {"messages": 0, "changes": 0, "workflows": 1, "scratchpads": 3}
    for model in (Workflow, Scratchpad, ScratchpadRevision, SearchEntry):
        assert not model.objects.in_project(ada.project).exists()
    assert left(ada) == []


def test_one_event_says_what_went(ada: Caller, time: Any) -> None:
    pad_of(ada, workflow=begin(ada))
    begin(ada)
    time.shift(8 * DAYS)
    cleanup(ada.project_id)
    assert cleaned(ada) == [{"workflows": 2, "scratchpads": 1, "note": "2 workflows, 1 scratchpad"}]


def test_where_nothing_goes_nothing_is_said(ada: Caller) -> None:
    begin(ada)
    assert cleanup(ada.project_id) == {"messages": 0, "changes": 0}
    assert cleaned(ada) == []


@pytest.mark.parametrize("is_closed", [False, True])
def test_what_says_never_is_spared(ada: Caller, time: Any, is_closed: bool) -> None:
    row_id = begin(ada, "kept", metadata={"keep": "never"})
    if is_closed:
        close_workflow(caller=ada, workflow_id=row_id)
    time.shift(400 * DAYS)
    cleanup(ada.project_id)
    assert left(ada) == ["kept"]
    update_workflow(caller=ada, workflow_id=row_id, metadata={"keep": None})
    time.shift(8 * DAYS)
    cleanup(ada.project_id)
    assert left(ada) == []


@pytest.mark.parametrize(("days", "remains"), [(0, ["w"]), (1, []), (30, ["w"])])
def test_the_project_says_how_long(ada: Caller, time: Any, days: int, remains: list[str]) -> None:
    set_config(caller=ada, values={"scratchpad_days": days})
    begin(ada, "w")
    time.shift(20 * DAYS)
    cleanup(ada.project_id)
    assert left(ada) == remains


def test_the_first_write_of_a_minute_cleans(ada: Caller, time: Any) -> None:
    begin(ada, "old")
    time.shift(8 * DAYS)
    begin(ada, "new")
    assert left(ada) == ["new"]


def test_a_write_to_what_has_lain_still_saves_it(ada: Caller, time: Any) -> None:
    pad = pad_of(ada, "x", workflow=begin(ada, "old"))
    time.shift(8 * DAYS)
    append_to_scratchpad(caller=ada, scratchpad_id=pad, content="y")
    assert left(ada) == ["old"]


def test_a_cleaning_takes_some_and_the_command_takes_all(ada: Caller, time: Any) -> None:
    for n in range(45):
        begin(ada, f"w{n}")
    time.shift(8 * DAYS)
    assert retention._clean_batch(ada.project_id, clock.now()) == {"workflows": workflows.CLEANED_AT_ONCE}
    call_command("cleanup", "--project", "apollo")
    assert left(ada) == []


def test_what_is_much_goes_a_little_at_a_time(
    ada: Caller, time: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workflows, "CLEANED_BYTES", 25)
    for n in range(4):
        pad_of(ada, "x" * 10, workflow=begin(ada, f"w{n}"))
    pad_of(ada, "x" * 100, workflow=begin(ada, "large"))
    time.shift(8 * DAYS)
    gone = [retention._clean_batch(ada.project_id, clock.now()).get("workflows", 0) for _ in range(4)]
    assert gone == [2, 2, 1, 0]


def test_another_projects_workflows_stay(ada: Caller, cy: Caller, time: Any) -> None:
    begin(ada, "w")
    begin(cy, "theirs")
    time.shift(8 * DAYS)
    cleanup(cy.project_id)
    assert (left(ada), left(cy)) == (["w"], [])
