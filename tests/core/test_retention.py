"""Retention: old messages and changes are deleted with a write, by command, or by an administrator."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command

from ctxhub.core.accounts.config import set_config
from ctxhub.core.events import cleanup as retention
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.models import Constraint, Decision, DecisionRevision
from messaging.messages.services import send_message
from messaging.models import Message
from tests.hub import McpClient, RestClient
from tests.tallies import counted, tallied
from tracking.changes.services import record_change
from tracking.models import FileChange

pytestmark = pytest.mark.usefixtures("index_is_kept")

FRIDAY = datetime(2026, 11, 20, 15, tzinfo=UTC)
MONDAY = FRIDAY + timedelta(days=3)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def at(moment: datetime, write: Callable[[], Any]) -> Any:
    with time_machine.travel(moment, tick=False):
        return write()


def send(caller: Caller, moment: datetime, text: str = "x", **rest: Any) -> None:
    at(moment, lambda: send_message(caller=caller, text=text, **rest))


def record(caller: Caller, moment: datetime, path: str = "a.py") -> None:
    at(moment, lambda: record_change(caller=caller, path=path, change="modified"))


def count_messages(project: Project) -> int:
    return Message.objects.in_project(project).count()


def count_changes(project: Project) -> int:
    return FileChange.objects.in_project(project).count()


# -- By age ----------------------------------------------------------------------------------------


def test_messages_last_a_day_and_changes_a_week(ada: Caller, apollo: Project) -> None:
    send(ada, FRIDAY)
    record(ada, FRIDAY)
    assert at(FRIDAY + DAY - HOUR, lambda: cleanup(apollo.pk)) == {"messages": 0, "changes": 0}
    assert at(FRIDAY + DAY + HOUR, lambda: cleanup(apollo.pk)) == {"messages": 1, "changes": 0}
    assert at(FRIDAY + 7 * DAY + HOUR, lambda: cleanup(apollo.pk)) == {"messages": 0, "changes": 1}


def test_where_weekends_do_not_count_friday_lasts_until_monday(ada: Caller, apollo: Project) -> None:
    set_config(caller=ada, values={"ignore_weekend": True})
    send(ada, FRIDAY)
    assert at(MONDAY - timedelta(minutes=1), lambda: cleanup(apollo.pk))["messages"] == 0
    assert at(MONDAY + timedelta(minutes=1), lambda: cleanup(apollo.pk))["messages"] == 1


def test_settings_change_the_retention_times(ada: Caller, apollo: Project) -> None:
    set_config(caller=ada, values={"message_hours": 2, "change_days": 1})
    send(ada, FRIDAY)
    record(ada, FRIDAY)
    assert at(FRIDAY + 3 * HOUR, lambda: cleanup(apollo.pk)) == {"messages": 1, "changes": 0}
    assert at(FRIDAY + DAY + HOUR, lambda: cleanup(apollo.pk)) == {"messages": 0, "changes": 1}


def test_knowledge_is_never_cleaned(ada: Caller, apollo: Project) -> None:
    for value in ("a", "b"):
        at(FRIDAY, lambda value=value: set_decision(caller=ada, key="k", value=value))  # type: ignore[misc]
    at(FRIDAY, lambda: add_constraint(caller=ada, category="security", text="Hold."))
    at(FRIDAY + 400 * DAY, lambda: cleanup(apollo.pk))
    counts = [model.objects.in_project(apollo).count() for model in (Decision, DecisionRevision, Constraint)]
    assert counts == [1, 1, 1]


def test_counters_follow_deleted_rows(ada: Caller, apollo: Project) -> None:
    for number in range(3):
        send(ada, FRIDAY)
        record(ada, FRIDAY, f"{number}.py")
    at(FRIDAY + 8 * DAY, lambda: cleanup(apollo.pk))
    assert tallied(apollo) == counted(apollo)
    assert (count_messages(apollo), count_changes(apollo)) == (0, 0)


def test_one_event_reports_what_was_deleted(ada: Caller, apollo: Project) -> None:
    send(ada, FRIDAY)
    record(ada, FRIDAY)
    at(FRIDAY + 8 * DAY, lambda: cleanup(apollo.pk))
    [event] = Event.objects.in_project(apollo).filter(verb="cleaned")
    assert event.data == {"messages": 1, "changes": 1, "note": "1 message, 1 change"}


# -- With a write ----------------------------------------------------------------------------------


def test_a_write_cleans_at_most_once_a_minute(ada: Caller, apollo: Project) -> None:
    send(ada, FRIDAY)
    record(ada, FRIDAY + DAY + HOUR)
    assert count_messages(apollo) == 0
    send(ada, FRIDAY + DAY + HOUR)
    Message.objects.in_project(apollo).update(created_at=FRIDAY)
    record(ada, FRIDAY + DAY + HOUR + timedelta(seconds=30))
    assert count_messages(apollo) == 1
    record(ada, FRIDAY + DAY + HOUR + timedelta(seconds=61))
    assert count_messages(apollo) == 0


def test_many_old_rows_are_deleted_in_batches(
    ada: Caller, apollo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(7):
        record(ada, FRIDAY, f"{number}.py")
    monkeypatch.setattr(retention, "REMOVED_AT_ONCE", 3)
    later = FRIDAY + 8 * DAY
    left = []
    for number in range(4):
        record(ada, later, f"new{number}.py")
        left.append(FileChange.objects.in_project(apollo).filter(at__lt=later).count())
    assert left == [4, 1, 0, 0]


def test_each_project_has_its_own_retention_settings(ada: Caller, cy: Caller, apollo: Project) -> None:
    send(ada, FRIDAY)
    send(cy, FRIDAY)
    set_config(caller=cy, values={"message_hours": 1})
    at(FRIDAY + 2 * HOUR, lambda: [cleanup(ada.project_id), cleanup(cy.project_id)])
    assert (count_messages(ada.project), count_messages(cy.project)) == (1, 0)


# -- By clearing -----------------------------------------------------------------------------------


def would_prune(messages: int = 0, changes: int = 0) -> dict[str, Any]:
    total = messages + changes
    return {"dry_run": True, "would_prune": total, "messages": messages, "changes": changes}


def clear_hub(caller: Caller, **arguments: Any) -> dict[str, Any]:
    return call(caller, "hub", {"action": "clear", **arguments})


def test_a_given_time_is_exact_and_for_its_kind_only(ada: Caller, apollo: Project) -> None:
    set_config(caller=ada, values={"ignore_weekend": True})
    for hours in (1, 3):
        send(ada, MONDAY - hours * HOUR)
        record(ada, MONDAY - hours * HOUR)
    with time_machine.travel(MONDAY, tick=False):
        assert clear_hub(ada, messages_older_than="2h", dry_run=True) == would_prune(messages=1)
        assert (count_messages(apollo), count_changes(apollo)) == (2, 2)
        assert clear_hub(ada, messages_older_than="2h") == {"messages": 1, "changes": 0}
        assert clear_hub(ada, changes_older_than="2026-11-23T13:00:00Z") == {"messages": 0, "changes": 1}
        assert (count_messages(apollo), count_changes(apollo)) == (1, 1)


def test_without_a_time_the_settings_decide(ada: Caller) -> None:
    set_config(caller=ada, values={"ignore_weekend": True})
    send(ada, FRIDAY)
    with time_machine.travel(MONDAY - HOUR, tick=False):
        assert clear_hub(ada, dry_run=True) == would_prune()
        assert clear_hub(ada) == {"messages": 0, "changes": 0}
    with time_machine.travel(MONDAY + HOUR, tick=False):
        assert clear_hub(ada, dry_run=True) == would_prune(messages=1)
        assert clear_hub(ada) == {"messages": 1, "changes": 0}


def test_settings_spare_unread_messages_and_a_given_time_does_not(ada: Caller, apollo: Project) -> None:
    send(ada, FRIDAY, "unread", to=["ben"])
    send(ada, FRIDAY, "to be acked", to=["ben"], ack=True)
    send(ada, FRIDAY, "said to nobody in particular")
    with time_machine.travel(FRIDAY + 2 * DAY, tick=False):
        assert clear_hub(ada)["messages"] == 1
    with time_machine.travel(FRIDAY + 8 * DAY, tick=False):
        assert clear_hub(ada)["messages"] == 1
        assert [m.text for m in Message.objects.in_project(apollo)] == ["to be acked"]
        assert clear_hub(ada, messages_older_than="0s")["messages"] == 1


@pytest.mark.parametrize("older_than", ["yesterday", "", "-5h", 5])
def test_an_invalid_time_is_refused(ada_mcp: McpClient, older_than: Any) -> None:
    answer = ada_mcp.call("hub", "clear", messages_older_than=older_than, dry_run=True)
    assert answer.get("error") == "invalid" or older_than == ""


def test_clearing_needs_an_administrator_and_a_dry_run_does_not(
    ada_mcp: McpClient, ben_mcp: McpClient, ben_rest: RestClient
) -> None:
    assert ben_mcp.call("hub", "clear")["error"] == "not_allowed"
    assert ben_rest.post("call/hub/clear/", {}).status == 403
    assert ben_mcp.call("hub", "clear", dry_run=True) == would_prune()
    assert ben_rest.post("call/hub/clear/", {"dry_run": True}).body == would_prune()
    assert ada_mcp.call("hub", "clear") == {"messages": 0, "changes": 0}


# -- By command ------------------------------------------------------------------------------------


def test_the_command_cleans_every_project(
    ada: Caller, cy: Caller, capsys: pytest.CaptureFixture[str]
) -> None:
    for caller in (ada, cy):
        send(caller, FRIDAY)
    at(FRIDAY + 2 * DAY, lambda: call_command("cleanup", project="hermes"))
    assert (count_messages(ada.project), count_messages(cy.project)) == (1, 0)
    at(FRIDAY + 2 * DAY, lambda: call_command("cleanup"))
    assert count_messages(ada.project) == 0
    assert capsys.readouterr().out.splitlines() == [
        "hermes: removed 1 message.",
        "apollo: removed 1 message.",
        "hermes: removed nothing.",
    ]
