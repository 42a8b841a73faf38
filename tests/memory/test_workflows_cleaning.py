"""Cleanup deletes workflows that nobody writes to any more, with everything in them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events import cleanup as retention
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, SearchEntry
from memory.models import Scratchpad, ScratchpadRevision, Workflow
from memory.scratchpads.services import append_to_scratchpad, update_scratchpad
from memory.workflows import services
from memory.workflows.services import close_workflow, update_workflow
from tests.memory.pads import assert_counters_are_right, new_workflow, pad_of

pytestmark = pytest.mark.usefixtures("index_is_kept")

MONDAY = datetime(2026, 1, 5, 10, tzinfo=UTC)
DAYS = timedelta(days=1)


@pytest.fixture(autouse=True)
def time() -> Iterator[Any]:
    with time_machine.travel(MONDAY, tick=False) as traveller:
        yield traveller


def remaining(caller: Caller) -> list[str]:
    assert_counters_are_right(caller.project)
    return list(Workflow.objects.in_project(caller.project).order_by("pk").values_list("name", flat=True))


def cleaned(caller: Caller) -> list[dict[str, Any]]:
    events = Event.objects.in_project(caller.project).filter(verb="cleaned").order_by("pk")
    return [event.data for event in events]


def test_a_workflow_lasts_seven_days_from_the_last_write(ada: Caller, time: Any) -> None:
    new_workflow(ada, "still")
    pad = pad_of(ada, "x", workflow=new_workflow(ada, "written to"))
    time.shift(6 * DAYS)
    append_to_scratchpad(caller=ada, scratchpad_id=pad, content="y")
    time.shift(DAYS)
    assert cleanup(ada.project_id).get("workflows", 0) == 0
    time.shift(timedelta(seconds=1))
    assert cleanup(ada.project_id)["workflows"] == 1
    assert remaining(ada) == ["written to"]


def test_cleanup_deletes_everything_in_a_workflow(ada: Caller, time: Any) -> None:
    workflow = new_workflow(ada)
    for n in range(3):
        pad = pad_of(ada, f"eagle {n}", workflow=workflow)
        update_scratchpad(caller=ada, scratchpad_id=pad, content="other")
    time.shift(8 * DAYS)
    assert cleanup(ada.project_id) == {"messages": 0, "changes": 0, "workflows": 1, "scratchpads": 3}
    for model in (Workflow, Scratchpad, ScratchpadRevision, SearchEntry):
        assert not model.objects.in_project(ada.project).exists()
    assert remaining(ada) == []


def test_one_event_counts_what_was_deleted(ada: Caller, time: Any) -> None:
    pad_of(ada, workflow=new_workflow(ada))
    new_workflow(ada)
    time.shift(8 * DAYS)
    cleanup(ada.project_id)
    assert cleaned(ada) == [{"workflows": 2, "scratchpads": 1, "note": "2 workflows, 1 scratchpad"}]


def test_a_cleanup_without_deletions_leaves_no_event(ada: Caller) -> None:
    new_workflow(ada)
    assert cleanup(ada.project_id) == {"messages": 0, "changes": 0}
    assert cleaned(ada) == []


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_workflow_with_keep_never_is_not_deleted(ada: Caller, time: Any, is_closed: bool) -> None:
    row_id = new_workflow(ada, "kept", metadata={"keep": "never"})
    if is_closed:
        close_workflow(caller=ada, workflow_id=row_id)
    time.shift(400 * DAYS)
    cleanup(ada.project_id)
    assert remaining(ada) == ["kept"]
    update_workflow(caller=ada, workflow_id=row_id, metadata={"keep": None})
    time.shift(8 * DAYS)
    cleanup(ada.project_id)
    assert remaining(ada) == []


@pytest.mark.parametrize(("days", "expected"), [(0, ["w"]), (1, []), (30, ["w"])])
def test_the_project_configures_the_retention(ada: Caller, time: Any, days: int, expected: list[str]) -> None:
    set_config(caller=ada, values={"scratchpad_days": days})
    new_workflow(ada, "w")
    time.shift(20 * DAYS)
    cleanup(ada.project_id)
    assert remaining(ada) == expected


def test_the_first_write_of_a_minute_runs_the_cleanup(ada: Caller, time: Any) -> None:
    new_workflow(ada, "old")
    time.shift(8 * DAYS)
    new_workflow(ada, "new")
    assert remaining(ada) == ["new"]


def test_a_write_to_an_idle_workflow_saves_it(ada: Caller, time: Any) -> None:
    pad = pad_of(ada, "x", workflow=new_workflow(ada, "old"))
    time.shift(8 * DAYS)
    append_to_scratchpad(caller=ada, scratchpad_id=pad, content="y")
    assert remaining(ada) == ["old"]


def test_a_batch_is_limited_and_the_command_deletes_all(ada: Caller, time: Any) -> None:
    for n in range(45):
        new_workflow(ada, f"w{n}")
    time.shift(8 * DAYS)
    assert retention._clean_batch(ada.project_id, clock.now()) == {"workflows": services.CLEANED_AT_ONCE}
    call_command("cleanup", "--project", "apollo")
    assert remaining(ada) == []


def test_a_batch_is_limited_by_bytes(ada: Caller, time: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "CLEANED_BYTES", 25)
    for n in range(4):
        pad_of(ada, "x" * 10, workflow=new_workflow(ada, f"w{n}"))
    pad_of(ada, "x" * 100, workflow=new_workflow(ada, "large"))
    time.shift(8 * DAYS)
    deleted = [retention._clean_batch(ada.project_id, clock.now()).get("workflows", 0) for _ in range(4)]
    assert deleted == [2, 2, 1, 0]


def test_another_projects_workflows_stay(ada: Caller, cy: Caller, time: Any) -> None:
    new_workflow(ada, "w")
    new_workflow(cy, "theirs")
    time.shift(8 * DAYS)
    cleanup(cy.project_id)
    assert (remaining(ada), remaining(cy)) == (["w"], [])
