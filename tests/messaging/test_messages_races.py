"""Concurrent messages: a request has one holder, a message one delivery per recipient, nothing is lost."""

import time
from collections import Counter
from concurrent.futures import Executor
from typing import Any

import pytest

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Event, Project
from messaging.messages.inbox import list_inbox
from messaging.messages.services import send_message
from messaging.models import Delivery, Message
from messaging.retention import tell_overdue
from tests.crowd import (
    SECONDS_TO_GATHER,
    Crowd,
    ToolCall,
    speaking,
)
from tests.messaging.mail import counted

pytestmark = pytest.mark.usefixtures("index_is_kept")

AGENTS = 16
ROUNDS = 6


def message(action: str, **arguments: Any) -> ToolCall:
    return ToolCall("message", {"action": action, **arguments})


def test_each_request_is_claimed_by_exactly_one_agent(crowd: Crowd, ada: Caller) -> None:
    ids = [send_message(caller=ada, text=f"r{n}", type="request")["id"] for n in range(AGENTS * 2)]
    answers = crowd([[message("claim", next=True) for _ in range(ROUNDS)] for _ in range(AGENTS)])
    taken = [a["claimed"]["id"] for own in answers for a in own if a.get("claimed")]
    assert sorted(taken) == ids
    assert [a for own in answers for a in own if "claimed" not in a] == []


def test_of_concurrent_claims_of_one_request_one_succeeds(crowd: Crowd, ada: Caller) -> None:
    ids = [send_message(caller=ada, text=f"r{n}", type="request")["id"] for n in range(ROUNDS)]
    answers = crowd([[message("claim", id=row_id) for row_id in ids] for _ in range(AGENTS)])
    for row_id, each in zip(ids, zip(*answers, strict=True), strict=True):
        outcomes = Counter(answer.get("error", "claimed") for answer in each)
        assert outcomes == {"claimed": 1, "conflict": AGENTS - 1}
        holder = Message.unscoped.get(pk=row_id).claimed_by
        assert holder
        assert all(a["current"]["by"] == holder.name for a in each if "error" in a)


def test_concurrent_calls_finish_a_request_once(crowd: Crowd, ada: Caller) -> None:
    row_id = send_message(caller=ada, text="r", type="request")["id"]
    answers = [own[0] for own in crowd([[message("done", id=row_id)] for _ in range(AGENTS)])]
    assert Counter(a.get("error", "done") for a in answers) == {"done": 1, "conflict": AGENTS - 1}
    assert Event.objects.in_project(ada.project).filter(verb="done").count() == 1
    assert list_inbox(ada).rows[0][4:6] == ["medium", f"Your request message:{row_id} is done: r"]
    assert len(list_inbox(ada).rows) == 1


def test_no_concurrently_sent_message_is_lost_or_doubled(crowd: Crowd, apollo: Project, ada: Caller) -> None:
    """Agents send to everyone while others are being registered: each receives the messages of all others."""
    calls = [
        [
            call
            for n in range(ROUNDS)
            for call in (
                message("send", text=f"{agent}-{n}", ack=True),
                message("inbox", limit=200),
                message("send_batch", items=[{"text": "x", "to": ["agent 0", f"agent {agent + 1}"]}]),
            )
        ]
        for agent in range(AGENTS)
    ]
    answers = [answer for own in crowd(calls) for answer in own]
    assert [answer for answer in answers if "error" in answer] == []
    assert counted(ada) == 2 * AGENTS * ROUNDS
    assert Event.objects.in_project(apollo).filter(verb="sent").count() == 2 * AGENTS * ROUNDS
    agents = list(
        Agent.objects.in_project(apollo).filter(name__startswith="agent").values_list("pk", "folded")
    )
    assert len(agents) == AGENTS
    for pk, folded in agents:
        sent = Message.objects.in_project(apollo).filter(to_everyone=True).exclude(sender=pk)
        received = Delivery.objects.in_project(apollo).filter(folded=folded, message__to_everyone=True)
        assert sorted(received.values_list("message", flat=True)) == sorted(sent.values_list("pk", flat=True))


def test_concurrent_reads_and_acknowledgements_count_once(crowd: Crowd, ada: Caller) -> None:
    ids = [send_message(caller=ada, text="x", to=["one"], ack=True)["id"] for _ in range(10)]
    calls = [
        [
            message("read", ids=ids, agent="one"),
            message("ack", ids=ids, agent="one"),
            message("read", all=True),
        ]
        for _ in range(AGENTS)
    ]
    answers = crowd(calls)
    assert sum(own[1]["acked"] for own in answers) == len(ids)
    assert sum(own[0]["marked"] for own in answers) <= len(ids)
    assert Event.objects.in_project(ada.project).filter(verb="acked").count() == len(ids)


def test_concurrent_checks_record_an_overdue_message_once(
    executor: Executor, transactional_db: None, ada: Caller
) -> None:
    send_message(caller=ada, text="x", to=["ben"], ack_within="1s")
    time.sleep(1.1)
    start_at = time.time() + SECONDS_TO_GATHER
    for looking in [executor.submit(look, ada.project_id, start_at) for _ in range(AGENTS)]:
        looking.result()
    assert Event.objects.in_project(ada.project).filter(verb="overdue").count() == 1


def look(project_id: int, start_at: float) -> None:
    with speaking(project_id, "looker", start_at):
        tell_overdue(project_id, clock.now())
