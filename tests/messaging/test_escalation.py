"""Escalation: the log says which requests nobody claims, and which messages nobody reads, for too long."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.config import config_of, set_config
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event
from messaging.messages.requests import claim_request, finish_request
from messaging.messages.services import acknowledge_messages, read_messages_of, send_message
from messaging.models import Message
from messaging.retention import tell_escalated


@pytest.fixture
def time() -> Iterator[Any]:
    with time_machine.travel("2026-11-23T12:00:00Z", tick=False) as traveller:
        yield traveller


@pytest.fixture(autouse=True)
def after_30_minutes(ada: Caller, time: Any) -> None:
    set_config(caller=ada, values={"escalate_minutes": 30})


def send(caller: Caller, **rest: Any) -> int:
    return send_message(caller=caller, text="Please look.", **{"to": ["ben"], **rest})["id"]


def escalated(caller: Caller) -> list[tuple[str, dict[str, Any]]]:
    cleanup(caller.project_id)
    events = Event.objects.in_project(caller.project).filter(verb="escalated").order_by("pk")
    return list(events.values_list("ref", "data"))


def test_a_request_that_nobody_claims_is_escalated_once(ada: Caller, time: Any) -> None:
    row_id = send(ada, type="request", priority="high")
    time.shift(timedelta(minutes=30, seconds=-1))
    assert escalated(ada) == []
    time.shift(timedelta(seconds=1))
    event = (f"message:{row_id}", {"to": ["ada"], "priority": "high", "note": "nobody has claimed it"})
    assert escalated(ada) == [event]
    time.shift(timedelta(hours=5))
    assert escalated(ada) == [event]
    assert Message.unscoped.get(pk=row_id).escalated


def test_a_message_to_be_acknowledged_that_nobody_reads_is_escalated(
    ada: Caller, ben: Caller, time: Any
) -> None:
    row_id = send(ada, to=["ben", "eve"], ack=True)
    read_messages_of(caller=ben, ids=[row_id])
    time.shift(timedelta(minutes=31))
    assert [(ref, data["note"]) for ref, data in escalated(ada)] == [(f"message:{row_id}", "not read by eve")]


def test_what_is_read_claimed_done_or_owed_by_nobody_is_not_escalated(
    ada: Caller, ben: Caller, time: Any
) -> None:
    send(ada)
    send(ada, to=None, ack=True)
    read_messages_of(caller=ben, ids=[send(ada, ack=True)])
    acknowledge_messages(caller=ben, ids=[send(ada, ack=True)])
    claim_request(caller=ben, message_id=send(ada, type="request"), minutes=120)
    done = send(ada, type="request")
    claim_request(caller=ben, message_id=done)
    finish_request(caller=ben, message_id=done)
    time.shift(timedelta(minutes=31))
    assert escalated(ada) == []


def test_a_request_whose_claim_has_expired_is_escalated(ada: Caller, ben: Caller, time: Any) -> None:
    row_id = send(ada, type="request")
    claim_request(caller=ben, message_id=row_id, minutes=40)
    time.shift(timedelta(minutes=35))
    assert escalated(ada) == []
    time.shift(timedelta(minutes=6))
    assert [ref for ref, _ in escalated(ada)] == [f"message:{row_id}"]


def test_by_default_nothing_is_escalated_and_nothing_is_asked(ada: Caller, cy: Caller, time: Any) -> None:
    send(ada, type="request")
    send(cy, type="request")
    time.shift(timedelta(days=1))
    assert escalated(cy) == []
    set_config(caller=ada, values={"escalate_minutes": None})
    assert escalated(ada) == []


def test_another_projects_messages_stay(ada: Caller, cy: Caller, time: Any) -> None:
    send(cy, type="request")
    send(ada, type="request")
    time.shift(timedelta(hours=1))
    cleanup(ada.project_id)
    assert list(Message.unscoped.filter(escalated=True).values_list("project_id", flat=True)) == [
        ada.project_id
    ]


def test_many_take_as_many_statements_as_one(ada: Caller, time: Any) -> None:
    config = config_of(ada.project_id)

    def statements() -> int:
        time.shift(timedelta(hours=1))
        with CaptureQueriesContext(connection) as queries:
            tell_escalated(ada.project_id, clock.now(), config)
        return len(queries)

    send(ada, type="request")
    one = statements()
    for _ in range(20):
        send(ada, type="request")
        send(ada, ack=True)
    assert statements() == one
    assert Message.unscoped.filter(escalated=False).count() == 0
