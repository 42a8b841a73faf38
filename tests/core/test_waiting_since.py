"""`since` of a call that waits is read once, when the call begins."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from ctxhub.core.events.waiting import LongPoll
from ctxhub.core.kit.caller import Caller
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision
from messaging.messages.services import send_message
from sessions.sittings.services import save_session

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as frozen:
        yield frozen


def test_a_time_ago_stays_where_it_was_while_the_call_waits(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    save_session(caller=ben, summary="It wakes nobody.")
    arguments = {"action": "wait", "since": "10m", "wait_seconds": 60}
    with LongPoll().at_work():
        assert call(ada, "hub", arguments)["sessions"] == 1
        clock.shift(timedelta(minutes=11))
        set_decision(caller=ben, key="k", value="x")
        assert {**call(ada, "hub", arguments), "cursor": ""} == {"sessions": 1, "decisions": 1, "cursor": ""}


def test_what_arrives_while_an_inbox_waits_is_not_too_old(
    ada: Caller, ben: Caller, clock: time_machine.Traveller
) -> None:
    arguments = {"action": "inbox", "since": "1m", "wait_seconds": 60}
    with LongPoll().at_work():
        assert call(ada, "message", arguments)["count"] == 0
        send_message(caller=ben, text="Hello.", to=["ada"])
        clock.shift(timedelta(minutes=2))
        assert call(ada, "message", arguments)["count"] == 1
