"""Messages written through the ORM get the same events, stats and deliveries as sent ones."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller, acting
from ctxhub.core.models import Agent, Event, Project, Tally
from messaging.models import Delivery, Message, MessageType, RequestState
from tests.messaging.mail import counted, events, inbox, known, send, texts, verbs

pytestmark = pytest.mark.usefixtures("index_is_kept")


@pytest.fixture
def agent(ada: Caller, ben: Caller) -> Agent:
    known(ada, ben)
    return Agent.objects.in_project(ada.project).get(name="ada")


def create(agent: Agent, **fields: Any) -> Message:
    values: Any = {"text": "hello", **fields}
    return Message.objects.create(project=agent.project, sender=agent, **values)


def test_a_message_to_everyone_is_delivered_counted_and_recorded(
    ada: Caller, ben: Caller, agent: Agent
) -> None:
    message = create(agent, priority=4)
    assert (texts(ben), texts(ada), counted(ada)) == (["hello"], [], 1)
    by_service = send(ada, priority="critical")
    recorded = [(verb, data) for verb, _, data in events(ada)]
    assert recorded[0] == recorded[1]
    assert [ref for _, ref, _ in events(ada)] == [message.ref, f"message:{by_service}"]
    rows = [{**row, "id": 0, "thread": 0, "at": ""} for row in inbox(ben)]
    assert rows[0] == rows[1]


def test_recipients_are_added_as_deliveries(ada: Caller, ben: Caller, agent: Agent) -> None:
    message = create(agent, to_everyone=False, type=MessageType.REQUEST)
    Delivery.objects.create(project=agent.project, message=message, name="Ben")
    assert texts(ben, type="request", state="open") == ["hello"]
    assert [(verb, data.get("to")) for verb, _, data in events(ada)] == [("sent", []), ("delivered", ["Ben"])]


def test_a_new_agent_gets_existing_messages_to_everyone(ada: Caller, agent: Agent) -> None:
    send(ada, "all")
    Agent.objects.create(project=agent.project, name="Zoe")
    assert Delivery.objects.in_project(agent.project).filter(folded="zoe").count() == 1
    assert texts(ada.speaking_as("zoe")) == ["all"]


@pytest.mark.parametrize(
    ("changes", "verb"),
    [
        ({"text": "other"}, "updated"),
        ({"priority": 4}, "updated"),
        ({"ack_overdue": True}, "overdue"),
        ({"state": RequestState.DONE}, "done"),
        ({}, None),
    ],
)
def test_a_change_is_recorded_and_copied_to_deliveries(
    ada: Caller, ben: Caller, agent: Agent, changes: dict[str, Any], verb: str | None
) -> None:
    message = create(agent, type=MessageType.REQUEST)
    for name, value in changes.items():
        setattr(message, name, value)
    message.save()
    assert verbs(ada) == ["sent", *([verb] if verb else [])]
    delivery = Delivery.unscoped.get()
    assert (delivery.priority, delivery.state, delivery.type) == (message.priority, message.state, 3)


def test_a_claim_by_the_orm_is_recorded(ada: Caller, agent: Agent) -> None:
    message = create(agent, type=MessageType.REQUEST)
    message.state, message.claimed_by = RequestState.CLAIMED, agent
    message.claimed_until = clock.now() + timedelta(minutes=5)
    message.save()
    assert verbs(ada) == ["sent", "claimed"]


def test_an_acknowledgement_is_recorded_once(ada: Caller, agent: Agent) -> None:
    delivery = Delivery.unscoped.get(message=create(agent, ack=True))
    for _ in range(2):
        delivery.acked_at = clock.now()
        delivery.save()
    assert verbs(ada) == ["sent", "acked"]


@pytest.mark.parametrize("way", ["row", "queryset"])
def test_a_deletion_records_its_agent_and_replies_stay(
    ada: Caller, ben: Caller, agent: Agent, way: str
) -> None:
    first = send(ada, "question", to=["ben"])
    answer = send(ben, "answer", reply_to=first)
    rows = Message.objects.in_project(ada.project).filter(pk=first)
    with acting(ben):
        (rows.get() if way == "row" else rows).delete()
    assert (verbs(ada), counted(ada)) == (["sent", "sent", "deleted"], 1)
    last = Event.objects.in_project(ada.project).latest("pk")
    assert last.agent
    assert last.agent.name == "ben"
    left = Message.unscoped.get()
    assert (left.pk, left.reply_to_id, left.thread_or_own_id) == (answer, None, first)


def test_deleting_a_project_removes_its_messages_and_events(ada: Caller, cy: Caller, apollo: Project) -> None:
    send(ada, ack=True, to=["ben"])
    send(cy, "stays")
    pk = apollo.pk
    apollo.delete()
    assert [message.text for message in Message.unscoped.all()] == ["stays"]
    assert not Event.unscoped.filter(project_id=pk).exists()
    assert not Tally.unscoped.filter(project_id=pk).exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"type": MessageType.INFO, "state": RequestState.OPEN},
        {"type": MessageType.REQUEST, "state": RequestState.CLAIMED},
    ],
)
def test_an_impossible_state_is_refused_by_the_database(agent: Agent, fields: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        create(agent, **fields)
