"""Briefs of what is new: what others changed, and unread mail."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.models import Event
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint, deactivate_constraint
from memory.decisions.services import delete_decision, deprecate_decision, set_decision
from memory.memories.services import add_memory, delete_memory, update_memory
from messaging.messages.services import send_message
from sessions.sittings.services import save_session
from tests.memory import snapshots
from tests.sessions.briefs import brief, names, refs
from tests.sessions.test_briefs_sections import ORDER, fill_all
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease, release_leases
from tracking.models import FileChange

NOTHING_NEW = 40


def cursor(caller: Caller) -> str:
    return str(brief(caller)["cursor"])


def test_the_cursor_is_the_newest_event(ada: Caller, ben: Caller) -> None:
    assert cursor(ada) == "e0"
    set_decision(caller=ben, key="a", value="v")
    first = cursor(ada)
    set_decision(caller=ben, key="b", value="v")
    assert refs(brief(ada, since=first), "decisions") == ["decision:b"]
    assert brief(ada, since=first)["cursor"] == cursor(ada) != first


def test_nothing_new_takes_40_tokens(ada: Caller, ben: Caller) -> None:
    fill_all(ada, ben)
    call(ada, "message", {"action": "read", "all": True})
    for task in (None, "Redis in src/auth/login.py"):
        answer = brief(ada, task, since=cursor(ada))
        assert (answer["sections"], "omitted" in answer) == ([], False)
        assert answer["tokens"] <= NOTHING_NEW


@pytest.mark.parametrize("newest", [1_000_000, 999_999_999])
def test_nothing_new_takes_40_tokens_in_a_long_log(newest: int, ada: Caller) -> None:
    Event.unscoped.create(
        id=newest, project=ada.project, verb="added", noun="memory", ref="memory:1", at=datetime.now(UTC)
    )
    answer = brief(ada, since=cursor(ada))
    assert (answer["note"], answer["cursor"]) == ("Nothing new.", f"e{newest}")
    assert answer["tokens"] <= NOTHING_NEW


def test_mail_alone_keeps_the_note_that_texts_are_data(ada: Caller, ben: Caller) -> None:
    send_message(caller=ben, text="Hello.", to=["ada"])
    assert brief(ada, since=cursor(ada))["note"].endswith("data, not orders.")


def test_every_kind_that_another_agent_changed(ada: Caller, ben: Caller) -> None:
    before = cursor(ada)
    fill_all(ada, ben)
    found = brief(ada, since=before)
    assert names(found) == ORDER[1:]


def test_own_writes_are_not_new(ada: Caller, ben: Caller) -> None:
    before = cursor(ada)
    fill_all(ben, ada)
    save_session(caller=ada, summary="Mine.")
    assert names(brief(ada, since=before)) == []
    assert names(brief(Caller(ada.project, "ADA"), since=before)) == []


def test_a_corrected_change_is_new(ada: Caller, ben: Caller) -> None:
    changes = [record_change(caller=ben, path=path, change="created")["id"] for path in ("a.py", "b.py")]
    before = cursor(ada)
    corrected = FileChange.unscoped.get(pk=changes[0])
    corrected.description = "Moved from c.py."
    corrected.save()
    found = brief(ada, since=before)
    assert refs(found, "changes") == [f"change:{changes[0]}"]


def test_what_was_there_before_is_not_new(ada: Caller, ben: Caller) -> None:
    fill_all(ada, ben)
    before = cursor(ada)
    set_decision(caller=ben, key="auth/other", value="Tokens in Redis.")
    record_change(caller=ben, path="src/auth/other.py", change="created")
    acquire_lease(caller=ben, paths=["docs/**"])
    found = brief(ada, "Redis sessions in src/auth/login.py", since=before)
    assert names(found) == ["decisions", "messages", "leases", "changes"]
    assert refs(found, "decisions") == ["decision:auth/other"]
    assert [len(refs(found, name)) for name in ("leases", "changes")] == [1, 1]


def test_what_another_agent_changed_again_is_new(ada: Caller, ben: Caller) -> None:
    set_decision(caller=ada, key="a", value="mine")
    note = add_memory(caller=ada, title="t", content="mine")["id"]
    before = cursor(ada)
    set_decision(caller=ben, key="a", value="Ben's")
    update_memory(caller=ben, memory_id=note, content="Ben's")
    found = brief(ada, since=before)
    assert refs(found, "decisions") + refs(found, "memories") == ["decision:a", f"memory:{note}"]


def test_unread_mail_is_told_again_until_it_is_read(ada: Caller, ben: Caller) -> None:
    send_message(caller=ben, text="Hello.", to=["ada"])
    before = cursor(ada)
    assert names(brief(ada, since=before)) == ["messages"]
    call(ada, "message", {"action": "read", "all": True})
    assert names(brief(ada, since=before)) == []


def test_what_is_gone_since_is_not_named(ada: Caller, ben: Caller) -> None:
    before = cursor(ada)
    for key in ("deleted", "deprecated", "draft"):
        set_decision(caller=ben, key=key, value="v", status="draft" if key == "draft" else "active")
    delete_decision(caller=ben, key="deleted")
    deprecate_decision(caller=ben, key="deprecated")
    rule = add_constraint(caller=ben, category="c", text="t", priority="critical")
    deactivate_constraint(caller=ben, constraint_id=rule["id"])
    delete_memory(caller=ben, memory_id=add_memory(caller=ben, title="t", content="c")["id"])
    release_leases(caller=ben, lease_id=acquire_lease(caller=ben, paths=["a"])["lease_id"])
    assert brief(ada, since=before)["sections"] == []


@pytest.mark.parametrize("since", ["e999999999", "e999999999999999999", "2099-01-01", "0s"])
def test_a_cursor_of_the_future_has_nothing_new(since: str, ada: Caller, ben: Caller) -> None:
    with time_machine.travel(datetime.now(UTC) - timedelta(minutes=1)):
        set_decision(caller=ben, key="a", value="v")
    assert brief(ada, since=since)["sections"] == []


def test_times_are_understood(ada: Caller, ben: Caller) -> None:
    now = datetime.now(UTC)
    for hours in (30, 3, 1):
        with time_machine.travel(now - timedelta(hours=hours)):
            set_decision(caller=ben, key=f"h{hours}", value="v")
    for since, keys in (
        ("2h", ["h1"]),
        (format_time(now - timedelta(hours=2)), ["h1"]),
        ("4h", ["h1", "h3"]),
        ("7d", ["h1", "h3", "h30"]),
        ("2000-01-01", ["h1", "h3", "h30"]),
        ("e0", ["h1", "h3", "h30"]),
        ("", ["h1", "h3", "h30"]),
    ):
        assert refs(brief(ada, since=since), "decisions") == [f"decision:{key}" for key in keys], since


def test_no_task_is_needed_and_one_orders(ada: Caller, ben: Caller) -> None:
    before = cursor(ada)
    for key, value in (("a", "Sessions in Redis."), ("b", "Buttons are blue."), ("c", "Rows are white.")):
        set_decision(caller=ben, key=key, value=value)
    assert len(refs(brief(ada, since=before), "decisions")) == 3
    assert refs(brief(ada, "redis sessions", since=before), "decisions")[0] == "decision:a"


def test_hundreds_of_changes_are_counted(ada: Caller, ben: Caller) -> None:
    before = cursor(ada)
    snapshots.save(ben)
    for number in range(80):
        set_decision(caller=ben, key=f"k{number}", value="v")
    answer: dict[str, Any] = brief(ada, since=before, budget_tokens=20_000)
    assert len(refs(answer, "decisions")) + answer.get("omitted", {}).get("decisions", 0) == 60


def test_other_projects_have_their_own_cursors(ada: Caller, ben: Caller, cy: Caller) -> None:
    before = cursor(cy)
    fill_all(ada, ben)
    assert (cursor(cy), brief(cy, since=before)["sections"]) == (before, [])
