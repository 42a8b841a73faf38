"""The worker of webhooks in a serving process: it wakes by events, by time, and ends with the process."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from pytest_django import DjangoDbBlocker, Settings

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Webhook
from ctxhub.core.webhooks import delivering, due, sending
from ctxhub.core.webhooks.services import add_webhook, send_test
from ctxhub.mcp.webhook_worker import deliver_webhooks
from memory.decisions.services import set_decision
from tests.databases import end_other_connections
from tests.receiver import Receiver, running_receiver
from tests.timing import wait_until

pytestmark = pytest.mark.usefixtures("transactional_db")


@pytest.fixture(autouse=True, scope="module")
def no_connections_left(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The threads of the worker and of the watch keep theirs."""
    yield
    with django_db_blocker.unblock():
        end_other_connections()


@pytest.fixture(autouse=True)
def nothing_looked_at() -> None:
    due._looked.clear()


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE = True
    with running_receiver() as running:
        yield running


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "PAUSES", tuple(pause / 1_000 for pause in sending.PAUSES))


def while_delivering(act: Callable[[], Any]) -> None:
    """Run `act` in a thread while the worker runs."""

    async def run() -> None:
        task = asyncio.create_task(deliver_webhooks())
        try:
            await asyncio.to_thread(act)
        finally:
            task.cancel()
            await asyncio.wait([task])

    asyncio.run(run())


def test_events_are_delivered_as_they_come(ada: Caller, receiver: Receiver) -> None:
    def act() -> None:
        add_webhook(caller=ada, url=receiver.url)
        for number in range(120):
            set_decision(caller=ada, key=f"k{number}", value="x")
            if number == 0:
                wait_until(lambda: receiver.received)
        wait_until(lambda: len(receiver.received) >= 120)

    while_delivering(act)
    assert receiver.refs == [f"decision:k{number}" for number in range(120)]


def test_what_failed_is_tried_again_by_itself(ada: Caller, receiver: Receiver, at_once: None) -> None:
    receiver.answers = [500, 500, 503]

    def act() -> None:
        add_webhook(caller=ada, url=receiver.url)
        set_decision(caller=ada, key="a", value="x")
        wait_until(lambda: len(receiver.received) >= 4)

    while_delivering(act)
    assert receiver.refs == ["decision:a"] * 4


def test_a_test_wakes_it(ada: Caller, receiver: Receiver) -> None:
    def act() -> None:
        row = add_webhook(caller=ada, url=receiver.url, active=False).row
        send_test(caller=ada, webhook_id=row.pk)
        wait_until(lambda: receiver.received)

    while_delivering(act)
    assert receiver.received[0].body["verb"] == "tested"


def test_a_slow_receiver_holds_up_no_other(ada: Caller, receiver: Receiver) -> None:
    released = threading.Event()

    with running_receiver() as slow:
        slow.before_answer = lambda: released.wait(30)

        def act() -> None:
            add_webhook(caller=ada, url=slow.url)
            set_decision(caller=ada, key="a", value="x")
            wait_until(lambda: slow.received)
            add_webhook(caller=ada, url=receiver.url)
            set_decision(caller=ada, key="b", value="x")
            wait_until(lambda: receiver.received)
            released.set()

        while_delivering(act)
    assert receiver.refs == ["decision:b"]


def test_it_ends_after_the_try_under_way_and_leaves_no_lease(ada: Caller, receiver: Receiver) -> None:
    rows: list[Webhook] = []

    def act() -> None:
        rows.append(add_webhook(caller=ada, url=receiver.url).row)
        for key in ("a", "b", "c"):
            set_decision(caller=ada, key=key, value="x")
        wait_until(lambda: receiver.received)

    while_delivering(act)
    row = Webhook.unscoped.get()
    assert (row.lease_holder, row.lease_until) == ("", None)
    delivered = row.deliveries.count()
    assert delivered == len(receiver.received)


def test_it_goes_on_at_once_when_the_database_is_back(
    ada: Caller, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has sent, and can neither note it nor give its lease back."""
    monkeypatch.setattr(delivering, "LEASE", timedelta(days=1))
    lost = pytest.MonkeyPatch()

    def gone(*_: Any, **__: Any) -> bool:
        raise OperationalError("gone")

    def gone_and_back(*_: Any) -> None:
        lost.undo()
        raise OperationalError("gone")

    def lose_database() -> None:
        receiver.before_answer = lambda: None
        lost.setattr(delivering, "mark_webhook", gone)
        lost.setattr(delivering, "release", gone_and_back)

    def act() -> None:
        receiver.before_answer = lose_database
        add_webhook(caller=ada, url=receiver.url)
        for key in ("a", "b"):
            set_decision(caller=ada, key=key, value="x")
        wait_until(lambda: len(receiver.received) >= 3)

    while_delivering(act)
    assert receiver.refs == ["decision:a", "decision:a", "decision:b"]
    assert receiver.received[0].delivery == receiver.received[1].delivery
    assert receiver.received[0].raw == receiver.received[1].raw


def test_two_workers_share_without_sending_anything_twice(ada: Caller, receiver: Receiver) -> None:
    def act() -> None:
        add_webhook(caller=ada, url=receiver.url)
        for number in range(60):
            set_decision(caller=ada, key=f"k{number}", value="x")
        wait_until(lambda: len(receiver.received) >= 60)

    async def both() -> None:
        tasks = [asyncio.create_task(deliver_webhooks()) for _ in range(2)]
        await asyncio.to_thread(act)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    asyncio.run(both())
    assert receiver.refs == [f"decision:k{number}" for number in range(60)]
    assert receiver.most_at_work == 1
