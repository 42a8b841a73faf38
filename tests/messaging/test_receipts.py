"""Who owes a message: everyone means the agents seen in the 7 days before; later comers owe nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
import time_machine
from django.apps import apps

from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.events.mail import count_urgent
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.dispatch import call
from messaging.messages.queries import list_receipts
from messaging.messages.services import acknowledge_messages, read_messages_of
from messaging.models import Delivery, Message
from sessions.nudges.services import nudge
from tests.messaging.mail import events, inbox, send, verbs

MONDAY = datetime(2026, 1, 5, 10, tzinfo=UTC)
WEEK = timedelta(days=7)
SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def time() -> Iterator[Any]:
    with time_machine.travel(MONDAY, tick=False) as traveller:
        yield traveller


def seen(*callers: Caller) -> None:
    for caller in callers:
        with write_transaction(caller.project_id):
            register_agent(caller, clock.now())


def owing(caller: Caller, row_id: int) -> dict[str, str | None]:
    rows = list_receipts(caller.project_id, row_id).objects()
    return {row["agent"]: row["owes"] for row in rows}


def test_everyone_is_who_was_seen_in_the_7_days_before(ada: Caller, ben: Caller, time: Any) -> None:
    eve = ada.speaking_as("eve")
    seen(eve)
    time.shift(SECOND)
    seen(ben)
    time.shift(WEEK)
    assert owing(ada, send(ada, ack=True)) == {"ben": "ack"}


def test_what_is_seen_of_agents_later_changes_nothing(ada: Caller, ben: Caller, time: Any) -> None:
    eve, zoe = ada.speaking_as("eve"), ada.speaking_as("zoe")
    seen(eve)
    time.shift(WEEK + SECOND)
    seen(ben)
    row_id = send(ada, ack=True)
    seen(eve, zoe)
    time.shift(2 * WEEK)
    seen(ben)
    assert owing(ada, row_id) == {"ben": "ack"}


def test_an_agent_that_was_never_seen_owes_nothing(ada: Caller) -> None:
    Agent.objects.create(project=ada.project, name="pinned")
    assert owing(ada, send(ada, ack=True)) == {}


def test_a_later_comer_reads_it_and_owes_nothing(ada: Caller, ben: Caller) -> None:
    row_id = send(ada, priority="high", ack=True)
    seen(ben)
    [row] = inbox(ben)
    assert (row["id"], row["ack"]) == (row_id, None)
    assert count_urgent(ben) == 0
    assert owing(ada, row_id) == {}
    assert acknowledge_messages(caller=ben, ids=[row_id]) == {"acked": 1}
    assert owing(ada, row_id) == {"ben": None}
    assert verbs(ada) == ["sent", "acked"]


@pytest.mark.parametrize(
    ("fields", "before", "read", "acked"),
    [
        ({"ack": True}, "ack", "ack", None),
        ({"priority": "high", "ack": True}, "ack", "ack", None),
        ({"priority": "critical"}, "read", None, None),
        ({"priority": "high"}, "read", None, None),
        ({}, None, None, None),
    ],
    ids=str,
)
@pytest.mark.parametrize("to", [None, ["ben"]], ids=str)
def test_urgent_messages_are_to_be_read_and_others_if_that_is_asked_acknowledged(
    ada: Caller,
    ben: Caller,
    to: list[str] | None,
    fields: dict[str, Any],
    before: str | None,
    read: str | None,
    acked: str | None,
) -> None:
    seen(ben)
    row_id = send(ada, to=to, **fields)
    found = [owing(ada, row_id)["ben"]]
    read_messages_of(caller=ben, ids=[row_id])
    found.append(owing(ada, row_id)["ben"])
    acknowledge_messages(caller=ben, ids=[row_id])
    assert [*found, owing(ada, row_id)["ben"]] == [before, read, acked]


def test_a_named_recipient_owes_it_even_if_it_was_never_seen(ada: Caller) -> None:
    assert owing(ada, send(ada, to=["zoe"], priority="high")) == {"zoe": "read"}


def test_only_those_who_owe_it_make_an_acknowledgement_overdue(ada: Caller, ben: Caller, time: Any) -> None:
    seen(ben)
    row_id = send(ada, ack_within="2h")
    seen(ada.speaking_as("zoe"))
    time.shift(timedelta(hours=3))
    cleanup(ada.project_id)
    assert events(ada)[1:] == [
        (
            "overdue",
            f"message:{row_id}",
            {"to": ["ada"], "priority": "medium", "note": "not acknowledged by ben"},
        )
    ]


def test_a_deadline_that_nobody_owes_is_cleared(ada: Caller, time: Any) -> None:
    send(ada, ack_within="2h")
    seen(ada.speaking_as("zoe"))
    time.shift(timedelta(hours=3))
    cleanup(ada.project_id)
    assert verbs(ada) == ["sent"]
    assert Message.unscoped.get().ack_due_at is None


def test_a_message_goes_by_age_when_only_later_comers_have_not_acknowledged_it(
    ada: Caller, ben: Caller, time: Any
) -> None:
    seen(ben)
    row_id = send(ada, ack=True)
    seen(ada.speaking_as("zoe"))
    time.shift(timedelta(hours=25))
    assert cleanup(ada.project_id)["messages"] == 0
    acknowledge_messages(caller=ben, ids=[row_id])
    assert cleanup(ada.project_id)["messages"] == 1


def test_stored_deliveries_are_migrated_by_the_same_rule(ada: Caller, ben: Caller, time: Any) -> None:
    seen(ada.speaking_as("eve"))
    time.shift(WEEK + SECOND)
    seen(ben)
    send(ada)
    send(ada, to=["zoe"])
    time.shift(SECOND)
    seen(ada.speaking_as("zoe"))
    expected = {("ben", True), ("eve", False), ("zoe", True), ("zoe", False)}
    stored = Delivery.unscoped.values_list("name", "owed")
    assert set(stored) == expected
    Delivery.unscoped.update(owed=True)
    import_module("messaging.migrations.0003_later_comers_owe_nothing").release_later_comers(apps, None)
    assert set(stored) == expected


# -- A newcomer's mail -----------------------------------------------------------------------------


def test_a_newcomers_mail_counts_what_is_addressed_to_it(ada: Caller, ben: Caller) -> None:
    seen(ada)
    send(ada, "to all, before", priority="critical")
    send(ada, "to ben, before", to=["ben"], priority="high")
    first = call(ben, "hub", {"action": "stats"})
    assert first["mail"] == 1
    send(ada, "to all, after", priority="high")
    assert call(ben, "hub", {"action": "stats"})["mail"] == 2
    assert len(call(ben, "message", {"action": "inbox"})["rows"]) == 3


def test_what_was_sent_while_an_agent_was_away_is_not_in_its_mail(
    ada: Caller, ben: Caller, time: Any
) -> None:
    seen(ben)
    time.shift(timedelta(days=8))
    send(ada, "to all", priority="critical")
    assert "mail" not in call(ben, "hub", {"action": "stats"})
    send(ada, "to ben", to=["ben"], priority="high")
    assert call(ben, "hub", {"action": "stats"})["mail"] == 1


def test_a_newcomer_is_nudged_of_what_is_addressed_to_it(ada: Caller, ben: Caller) -> None:
    send(ada, "to all, before", priority="critical")
    send(ada, "to ben, before", to=["ben"], priority="high")
    told = nudge(caller=ben)
    assert ("to ben" in told["text"], "to all" in told["text"], told["messages"]) == (True, False, 1)
