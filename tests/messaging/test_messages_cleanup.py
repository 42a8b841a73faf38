"""Cleanup of messages: which are removed, which are spared, and overdue acknowledgements."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from ctxhub.core.events import cleanup as retention
from ctxhub.core.events.cleanup import cleanup, clear
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event
from messaging.messages.queries import list_thread
from messaging.messages.services import acknowledge_messages, read_messages_of
from messaging.models import Delivery, Message
from messaging.retention import remove_old_messages
from tests.messaging.mail import counted, events, known, send, texts, verbs

pytestmark = pytest.mark.usefixtures("index_is_kept")

MONDAY = datetime(2026, 1, 5, 10, tzinfo=UTC)


@pytest.fixture(autouse=True)
def time() -> Iterator[Any]:
    with time_machine.travel(MONDAY, tick=False) as traveller:
        yield traveller


def remaining(caller: Caller) -> list[str]:
    counted(caller)
    return list(Message.objects.in_project(caller.project).order_by("pk").values_list("text", flat=True))


def test_messages_are_kept_for_a_day_and_unread_or_unacknowledged_ones_longer(
    ada: Caller, ben: Caller, time: Any
) -> None:
    known(ben)
    send(ada, "all")
    send(ada, "read", to=["ben"])
    send(ada, "unread by one", to=["ben", "eve"])
    send(ada, "acked", to=["ben"], ack=True)
    send(ada, "to be acked", ack=True)
    read_messages_of(caller=ben, everything=True)
    acknowledge_messages(caller=ben, ids=[Message.unscoped.get(text="acked").pk])
    time.shift(timedelta(hours=24))
    assert cleanup(ada.project_id)["messages"] == 0
    time.shift(timedelta(seconds=1))
    assert cleanup(ada.project_id)["messages"] == 3
    assert remaining(ada) == ["unread by one", "to be acked"]
    time.shift(timedelta(hours=168 - 24))
    assert cleanup(ada.project_id)["messages"] == 1
    time.shift(timedelta(days=90))
    cleanup(ada.project_id)
    assert remaining(ada) == ["to be acked"]
    acknowledge_messages(caller=ben, ids=[Message.unscoped.get().pk])
    assert cleanup(ada.project_id)["messages"] == 1
    assert not Delivery.unscoped.exists()


def test_the_next_write_after_a_minute_cleans_up(ada: Caller, time: Any) -> None:
    send(ada, "old")
    time.shift(timedelta(hours=25))
    send(ada, "new")
    assert remaining(ada) == ["new"]
    cleaned = Event.objects.in_project(ada.project).get(verb="cleaned")
    assert cleaned.data["messages"] == 1


def test_weekends_do_not_count_if_the_project_is_configured_so(ada: Caller, time: Any) -> None:
    ada.project.config = {"ignore_weekend": True}
    ada.project.save()
    time.move_to(datetime(2026, 1, 9, 15, tzinfo=UTC))  # A Friday.
    send(ada, "friday")
    time.move_to(datetime(2026, 1, 12, 15, tzinfo=UTC))
    assert cleanup(ada.project_id)["messages"] == 0
    time.shift(timedelta(seconds=1))
    assert cleanup(ada.project_id)["messages"] == 1


def test_clear_by_a_time_spares_nothing(ada: Caller, time: Any) -> None:
    send(ada, "old", to=["ben"], ack=True)
    time.shift(timedelta(hours=2))
    send(ada, "new", to=["ben"])
    for dry_run in (True, False):
        gone = clear(caller=ada, older_than={"messages": "1h"}, dry_run=dry_run)
        assert gone["messages"] == 1
        assert len(remaining(ada)) == (2 if dry_run else 1)
    assert remaining(ada) == ["new"]


def test_a_dry_run_counts_the_messages_to_remove(ada: Caller, ben: Caller, time: Any) -> None:
    send(ada, "all")
    send(ada, "unread", to=["ben"])
    time.shift(timedelta(hours=25))
    assert clear(caller=ada, older_than={}, dry_run=True)["messages"] == 1


def test_the_oldest_messages_are_removed_first_up_to_the_limit(ada: Caller, time: Any) -> None:
    for n in range(5):
        send(ada, f"m{n}")
        time.shift(1)
    now = clock.now()
    assert remove_old_messages(ada.project_id, now, sparing=True, at_most=2) == 2
    assert remaining(ada) == ["m2", "m3", "m4"]
    assert remove_old_messages(ada.project_id, now, sparing=True, at_most=9) == 3
    assert remove_old_messages(ada.project_id, now, sparing=True, at_most=9) == 0


def test_many_messages_are_removed_in_batches(
    ada: Caller, time: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "REMOVED_AT_ONCE", 60)
    for n in range(130):
        send(ada, f"m{n}")
    time.shift(timedelta(hours=25))
    assert cleanup(ada.project_id)["messages"] == 130
    assert remaining(ada) == []


def test_a_thread_outlives_its_first_message(ada: Caller, ben: Caller, time: Any) -> None:
    first = send(ada, "first", to=["ben"])
    second = send(ben, "second", reply_to=first)
    time.shift(timedelta(hours=1))
    third = send(ada, "third", reply_to=second)
    clear(caller=ada, older_than={"messages": "30m"})
    [row] = list_thread(ada.project_id, third).objects()
    assert (row["id"], row["reply_to"]) == (third, None)
    send(ben, "fourth", reply_to=third)
    assert [row["text"] for row in list_thread(ada.project_id, third).objects()] == ["third", "fourth"]


def test_another_projects_messages_stay(ada: Caller, cy: Caller, time: Any) -> None:
    send(ada)
    send(cy)
    time.shift(timedelta(hours=25))
    cleanup(ada.project_id)
    assert (counted(ada), counted(cy)) == (0, 1)


# -- Overdue acknowledgements ----------------------------------------------------------------------


def test_an_overdue_acknowledgement_is_recorded_once(ada: Caller, ben: Caller, time: Any) -> None:
    row_id = send(ada, to=["ben", "eve"], ack_within="2h")
    acknowledge_messages(caller=ben, ids=[row_id])
    time.shift(timedelta(hours=2) - timedelta(seconds=1))
    cleanup(ada.project_id)
    assert verbs(ada) == ["sent", "acked"]
    time.shift(timedelta(seconds=1))
    for _ in range(3):
        cleanup(ada.project_id)
    data = {"to": ["ada"], "priority": "medium", "note": "not acknowledged by eve"}
    assert events(ada)[2:] == [("overdue", f"message:{row_id}", data)]
    assert Message.unscoped.get().ack_overdue


def test_a_message_acknowledged_in_time_is_not_overdue(ada: Caller, ben: Caller, time: Any) -> None:
    row_id = send(ada, to=["ben"], ack_within="30m")
    acknowledge_messages(caller=ben, ids=[row_id])
    time.shift(timedelta(hours=1))
    cleanup(ada.project_id)
    assert verbs(ada) == ["sent", "acked"]
    assert Message.unscoped.get().ack_due_at is None


def test_the_next_write_records_overdue_acknowledgements(ada: Caller, time: Any) -> None:
    send(ada, to=["ben"], ack_within="1m")
    time.shift(timedelta(minutes=2))
    send(ada, "another")
    assert verbs(ada) == ["sent", "sent", "overdue"]
    assert texts(ada.speaking_as("ben"), unread=False) == ["another", "hello"]
