"""Webhooks: what is delivered, in which order, when again, and what people are told of failures."""

import hashlib
import hmac
import logging
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries, Settings

from ctxhub.core.events import cleanup as retention
from ctxhub.core.events.cleanup import cleanup
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import READ, WRITE, Caller
from ctxhub.core.kit.errors import InvalidInput, LimitReached, NotAllowed, NotFound
from ctxhub.core.models import Event, Webhook, WebhookDelivery
from ctxhub.core.webhooks import delivering, due, sealing, sending
from ctxhub.core.webhooks.delivering import deliver_due
from ctxhub.core.webhooks.due import plan_deliveries
from ctxhub.core.webhooks.models import DeliveryStatus
from ctxhub.core.webhooks.queries import delivery_item, webhook_item
from ctxhub.core.webhooks.services import add_webhook, change_webhook, delete_webhook, send_again, send_test
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from messaging.messages.services import send_message
from tests.receiver import Receiver, running_receiver

NOON = "2026-11-23T12:00:00Z"


@pytest.fixture
def time() -> Iterator[Any]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture(autouse=True)
def nothing_looked_at() -> None:
    due._looked.clear()


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.WEBHOOK_PRIVATE = True
    with running_receiver() as running:
        yield running


def hook(caller: Caller, receiver: Receiver, **rest: Any) -> Webhook:
    return add_webhook(caller=caller, url=receiver.url, **rest).row


def decide(caller: Caller, *keys: str) -> None:
    for key in keys:
        set_decision(caller=caller, key=key, value="yes")


def fresh(row: Webhook) -> Webhook:
    row.refresh_from_db()
    return row


def deliveries(row: Webhook) -> list[WebhookDelivery]:
    return list(WebhookDelivery.unscoped.filter(webhook=row).order_by("pk"))


def states(row: Webhook) -> list[str]:
    return [each.get_status_display() for each in deliveries(row)]


def verbs(caller: Caller, noun: str = "hub") -> list[str]:
    events = Event.objects.in_project(caller.project).filter(noun=noun).order_by("pk")
    return list(events.values_list("verb", flat=True))


# -- What is sent ----------------------------------------------------------------------------------


def test_an_event_is_posted_as_json(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver)
    set_decision(caller=ada, key="api/auth", value="token")
    deliver_due(row.pk)
    [received] = receiver.received
    event = Event.objects.in_project(ada.project).get(noun="decision")
    assert received.path == "/hook/of/apollo?token=abcdefghijkl"
    assert received.body == {
        "id": f"e{event.pk}",
        "at": clock.format_time(event.at),
        "project": "apollo",
        "noun": "decision",
        "verb": "created",
        "ref": "decision:api/auth",
        "agent": "ada",
        "note": "1.0.0",
    }
    assert received.headers["x-ctxhub-event"] == "decision.created"
    assert received.delivery == f"w{row.pk}-e{event.pk}"
    assert received.headers["content-type"] == "application/json"


def test_the_body_is_signed_with_the_secret(ada: Caller, receiver: Receiver) -> None:
    new = add_webhook(caller=ada, url=receiver.url)
    decide(ada, "a")
    deliver_due(new.row.pk)
    [received] = receiver.received
    timestamp = received.headers["x-ctxhub-timestamp"]
    signed = hmac.new(new.secret.encode(), f"{timestamp}.".encode() + received.raw, hashlib.sha256)
    assert received.headers["x-ctxhub-signature"] == f"sha256={signed.hexdigest()}"
    assert abs(int(timestamp) - clock.now().timestamp()) < 60


def test_events_come_in_order_and_only_those_since_it_was_added(ada: Caller, receiver: Receiver) -> None:
    decide(ada, "before")
    row = hook(ada, receiver)
    decide(ada, *(f"k{n}" for n in range(60)))
    assert deliver_due(row.pk) == delivering.AT_ONCE
    assert deliver_due(row.pk) == 10
    assert receiver.refs == [f"decision:k{n}" for n in range(60)]
    assert plan_deliveries().due == []


def test_another_projects_events_are_not_told(ada: Caller, cy: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver)
    decide(cy, "secret")
    decide(ada, "own")
    deliver_due(row.pk)
    assert receiver.refs == ["decision:own"]


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        ({}, ["decision:a", "constraint:1", "message:1", "decision:a"]),
        ({"nouns": ["decision"]}, ["decision:a", "decision:a"]),
        ({"nouns": ["Decision", "message"], "verbs": ["created", "sent"]}, ["decision:a", "message:1"]),
        ({"verbs": ["updated"]}, ["decision:a"]),
        ({"verbs": ["set"], "nouns": ["decision"]}, ["decision:a", "decision:a"]),
        ({"priority": ["critical"]}, ["message:1"]),
        ({"priority": ["low", "high"]}, ["constraint:1"]),
        ({"nouns": ["message"], "priority": ["low"]}, []),
    ],
)
def test_conditions_choose_the_events(
    ada: Caller, receiver: Receiver, conditions: dict[str, Any], told: list[str]
) -> None:
    row = hook(ada, receiver, **conditions)
    decide(ada, "a")
    add_constraint(caller=ada, category="api", text="Be quick.", priority="high")
    send_message(caller=ada, text="Now!", priority="critical")
    set_decision(caller=ada, key="a", value="no")
    deliver_due(row.pk)
    assert [ref.split(":")[0] for ref in receiver.refs] == [ref.split(":")[0] for ref in told]


def test_events_of_the_hub_are_told_only_if_they_are_named(ada: Caller, receiver: Receiver) -> None:
    every, of_hub = hook(ada, receiver), hook(ada, receiver, nouns=["hub"])
    deliver_due(every.pk)
    assert receiver.received == []
    change_webhook(caller=ada, webhook_id=every.pk, verbs=["created"])
    deliver_due(of_hub.pk)
    assert [each.body["verb"] for each in receiver.received] == ["created", "updated"]


def test_new_conditions_do_not_tell_of_the_past(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver, nouns=["message"])
    decide(ada, "old")
    change_webhook(caller=ada, webhook_id=row.pk, nouns=["decision"])
    decide(ada, "new")
    deliver_due(row.pk)
    assert receiver.refs == ["decision:new"]


def test_what_waits_is_told_although_the_conditions_change(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver, nouns=["decision"])
    decide(ada, "waits")
    change_webhook(caller=ada, webhook_id=row.pk, nouns=["decision", "message"])
    deliver_due(row.pk)
    assert receiver.refs == ["decision:waits"]


# -- Trying again ----------------------------------------------------------------------------------


def test_it_is_tried_again_later_and_the_next_waits(ada: Caller, receiver: Receiver, time: Any) -> None:
    row = hook(ada, receiver)
    decide(ada, "a", "b")
    receiver.answers = [500, 502, 503, 500]
    tried = []
    for seconds in (0, 9, 1, 59, 1, 599, 1, 3_599, 1):
        time.shift(seconds)
        tried.append(deliver_due(row.pk))
    assert tried == [1, 0, 1, 0, 1, 0, 1, 0, 2]
    assert receiver.refs == ["decision:a"] * 5 + ["decision:b"]
    assert len({each.delivery for each in receiver.received[:5]}) == 1
    assert states(row) == ["delivered", "delivered"]
    assert fresh(row).failures == 0


def test_after_five_tries_it_is_dead_and_the_next_comes(ada: Caller, receiver: Receiver, time: Any) -> None:
    row = hook(ada, receiver)
    decide(ada, "a", "b")
    receiver.answers = [500] * 5
    for _ in range(5):
        deliver_due(row.pk)
        time.shift(3_601)
    assert receiver.refs == ["decision:a"] * 5 + ["decision:b"]
    assert states(row) == ["dead", "delivered"]


@pytest.mark.parametrize(
    ("status", "becomes"),
    [
        *((code, "dead") for code in (400, 401, 403, 404, 410, 422)),
        *((code, "waiting") for code in (408, 425, 429, 301, 302, 500, 503)),
        *((code, "delivered") for code in (200, 201, 204, 299)),
    ],
)
def test_what_an_answer_means(ada: Caller, receiver: Receiver, status: int, becomes: str, time: Any) -> None:
    row = hook(ada, receiver)
    decide(ada, "a")
    receiver.answers = [(status, {"Location": receiver.url}, b"")]
    deliver_due(row.pk)
    assert states(row) == [becomes]
    assert len(receiver.received) == 1  # A redirect is not followed.
    assert bool(row.deliveries.get().problem) is (300 <= status < 400)


@pytest.mark.parametrize(
    ("status", "header", "seconds"),
    [
        (429, "30", 30),
        (429, "2", 2),
        (429, "0", 1),
        (503, "120", 120),
        (503, "2", 10),
        (503, "Mon, 23 Nov 2026 12:05:00 GMT", 300),
        (503, "999999999999", 86_400),
        (503, "soon", 10),
        (503, "-5", 10),
        (503, "", 10),
    ],
)
def test_retry_after_is_held(
    ada: Caller, receiver: Receiver, status: int, header: str, seconds: int, time: Any
) -> None:
    row = hook(ada, receiver)
    decide(ada, "a")
    receiver.answers = [(status, {"Retry-After": header}, b"")]
    deliver_due(row.pk)
    [delivery] = deliveries(row)
    assert delivery.next_at == clock.now() + timedelta(seconds=seconds)
    assert plan_deliveries().next_at == delivery.next_at


def test_the_first_kib_of_the_answer_is_kept_without_credentials(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver)
    decide(ada, "a")
    said = b"no: ctx_abcdefghijklmnopqrstuvwxyz0123456789ABCD \0 POST /hook/of/apollo?token=abcdefghijkl "
    receiver.answers = [(500, {}, said + b"x" * 5_000)]
    deliver_due(row.pk)
    [delivery] = deliveries(row)
    assert delivery.answer.startswith("no: ")
    assert "abcdefgh" not in delivery.answer
    assert "POST /… x" in delivery.answer
    assert len(delivery.answer) <= 1024
    assert delivery.code == 500


def test_where_nobody_listens_it_is_tried_again(ada: Caller, settings: Settings) -> None:
    settings.WEBHOOK_PRIVATE = True
    row = add_webhook(caller=ada, url="http://127.0.0.1:1/").row
    decide(ada, "a")
    deliver_due(row.pk)
    [delivery] = deliveries(row)
    assert "refused" in delivery.problem.lower()
    assert delivery.code is None
    assert states(row) == ["waiting"]


def test_a_slow_receiver_is_left(ada: Caller, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxhub.core.webhooks.sending.SECONDS", 0.2)
    released = threading.Event()
    receiver.before_answer = lambda: released.wait(30)
    row = hook(ada, receiver)
    decide(ada, "a")
    deliver_due(row.pk)
    released.set()
    assert deliveries(row)[0].problem.startswith("No answer within")


# -- Switched off ----------------------------------------------------------------------------------


def test_after_20_failures_in_a_row_it_is_switched_off(ada: Caller, receiver: Receiver, time: Any) -> None:
    row = hook(ada, receiver)
    decide(ada, *(f"k{n}" for n in range(30)))
    receiver.answers = [404] * 19 + [204] + [404] * 20
    deliver_due(row.pk)
    assert fresh(row).is_active
    assert row.failures == 10
    decide(ada, *(f"l{n}" for n in range(30)))
    deliver_due(row.pk)
    assert not fresh(row).is_active
    assert row.off_because == "20 tries in a row failed"
    assert row.state == "switched off"
    assert verbs(ada) == ["created", "switched_off"]
    assert len(receiver.received) == 40
    assert plan_deliveries().due == []


def test_switched_on_again_it_goes_on_where_it_stopped(ada: Caller, receiver: Receiver, time: Any) -> None:
    row = hook(ada, receiver)
    decide(ada, *(f"k{n}" for n in range(22)))
    receiver.answers = [404] * 20
    deliver_due(row.pk)
    decide(ada, "later")
    change_webhook(caller=ada, webhook_id=row.pk, active=True)
    assert plan_deliveries().due == [row.pk]
    deliver_due(row.pk)
    assert receiver.refs[20:] == ["decision:k20", "decision:k21", "decision:later"]
    assert fresh(row).off_because == ""


def test_an_inactive_webhook_is_told_nothing_but_tests(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver, active=False)
    decide(ada, "a")
    assert deliver_due(row.pk) == 0
    send_test(caller=ada, webhook_id=row.pk)
    assert plan_deliveries().due == [row.pk]
    assert deliver_due(row.pk) == 1
    assert receiver.received[0].headers["x-ctxhub-event"] == "hub.tested"
    assert receiver.received[0].body["ref"] == row.ref


def test_a_test_is_tried_once_and_is_no_failure(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver)
    receiver.answers = [500]
    send_test(caller=ada, webhook_id=row.pk)
    deliver_due(row.pk)
    assert states(row) == ["dead"]
    assert fresh(row).failures == 0


# -- Sent again ------------------------------------------------------------------------------------


def test_a_dead_one_is_sent_again_marked_and_under_its_name(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver)
    decide(ada, "a", "b")
    receiver.answers = [400]
    deliver_due(row.pk)
    dead, delivered = deliveries(row)
    assert send_again(caller=ada, webhook_id=row.pk, ids=[dead.pk, delivered.pk]) == [dead.pk]
    assert plan_deliveries().due == [row.pk]
    deliver_due(row.pk)
    first, _, again = receiver.received
    assert again.body == {**first.body, "redelivered": True}
    assert again.delivery == first.delivery
    assert states(row) == ["delivered", "delivered"]
    assert delivery_item(deliveries(row)[0])["redelivered"]


def test_what_is_sent_again_does_not_hold_up_the_line(ada: Caller, receiver: Receiver, time: Any) -> None:
    row = hook(ada, receiver)
    decide(ada, "a")
    receiver.answers = [400]
    deliver_due(row.pk)
    send_again(caller=ada, webhook_id=row.pk, ids=[deliveries(row)[0].pk])
    decide(ada, "b")
    receiver.answers = [500]
    deliver_due(row.pk)
    assert receiver.refs == ["decision:a", "decision:a", "decision:b"]
    assert states(row) == ["waiting", "delivered"]
    time.shift(10)
    assert deliver_due(row.pk) == 1
    assert states(row) == ["delivered", "delivered"]


def test_only_its_own_deliveries_are_sent_again(ada: Caller, cy: Caller, receiver: Receiver) -> None:
    row, other = hook(ada, receiver), hook(cy, receiver)
    decide(cy, "a")
    receiver.answers = [400]
    deliver_due(other.pk)
    with pytest.raises(NotFound):
        send_again(caller=ada, webhook_id=row.pk, ids=[deliveries(other)[0].pk])
    with pytest.raises(NotFound):
        send_again(caller=ada, webhook_id=other.pk, ids=[deliveries(other)[0].pk])


# -- People are told of many at once ---------------------------------------------------------------


def many(caller: Caller, count: int) -> None:
    at = clock.now()
    changes = [Change("change", "modified", f"change:{n}", {}) for n in range(count)]
    record(project_id=caller.project_id, agent_id=None, changes=changes, at=at)


def test_a_chat_that_is_far_behind_gets_one_summary(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver, kind="slack")
    many(ada, 1_000)
    decide(ada, "a")
    assert deliver_due(row.pk) == 1
    [summary] = receiver.received
    assert "1,001 events" in summary.body["text"]
    assert "1,000 file changes, 1 decision" in summary.body["text"]
    assert summary.headers["x-ctxhub-event"] == "hub.summary"
    decide(ada, "b")
    deliver_due(row.pk)
    assert "decision b" in receiver.received[1].body["text"]


def test_a_thousand_behind_each_is_told(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver, kind="discord")
    many(ada, 1_000)
    assert deliver_due(row.pk) == delivering.AT_ONCE


def test_programs_are_told_each_event(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver)
    many(ada, 1_100)
    assert deliver_due(row.pk) == delivering.AT_ONCE


def test_a_summary_that_fails_is_tried_again_as_it_was(ada: Caller, receiver: Receiver, time: Any) -> None:
    row = hook(ada, receiver, kind="slack")
    many(ada, 1_200)
    receiver.answers = [500]
    deliver_due(row.pk)
    decide(ada, "later")
    time.shift(10)
    deliver_due(row.pk)
    first, again, later = receiver.received
    assert again.raw == first.raw
    assert again.delivery == first.delivery
    assert "decision later" in later.body["text"]


def test_a_summary_that_waits_is_readable_for_a_program_as_well(
    ada: Caller, receiver: Receiver, time: Any
) -> None:
    row = hook(ada, receiver, kind="slack")
    many(ada, 1_200)
    receiver.answers = [500]
    deliver_due(row.pk)
    change_webhook(caller=ada, webhook_id=row.pk, kind="json")
    deliver_due(row.pk)
    assert receiver.received[1].body["verb"] == "summary"


# -- One worker at a time --------------------------------------------------------------------------


def test_who_has_the_lease_delivers_alone(ada: Caller, receiver: Receiver, time: Any) -> None:
    row = hook(ada, receiver)
    decide(ada, "a")
    until = clock.now() + delivering.LEASE
    Webhook.unscoped.filter(pk=row.pk).update(lease_holder="another", lease_until=until)
    assert deliver_due(row.pk) == 0
    assert plan_deliveries().due == []
    assert plan_deliveries().next_at == until
    time.shift(31)
    assert deliver_due(row.pk) == 1
    assert fresh(row).lease_holder == ""


def test_a_worker_that_has_lost_its_lease_notes_nothing(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver)
    decide(ada, "a", "b")

    def take_lease() -> None:
        until = clock.now() + delivering.LEASE
        Webhook.unscoped.filter(pk=row.pk).update(lease_holder="another", lease_until=until)

    calls: list[str] = []

    def post_and_lose(*arguments: Any) -> Any:
        calls.append("post")
        outcome = sending.post(*arguments)
        take_lease()
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delivering, "post", post_and_lose)
        deliver_due(row.pk)
    assert calls == ["post"]
    assert deliveries(row) == []
    assert fresh(row).lease_holder == "another"
    assert row.cursor < Event.unscoped.filter(noun="decision").order_by("pk")[0].pk


def test_a_worker_that_dies_after_sending_leaves_it_to_be_sent_under_the_same_name(
    ada: Caller, receiver: Receiver, time: Any
) -> None:
    row = hook(ada, receiver)
    decide(ada, "a", "b")

    class Killed(BaseException):
        pass

    def killed(*_: Any, **__: Any) -> bool:
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delivering, "mark_webhook", killed)
        patch.setattr(delivering, "release", lambda *_: None)
        with pytest.raises(Killed):
            deliver_due(row.pk)
    assert deliver_due(row.pk) == 0  # Until its lease ends.
    time.shift(31)
    deliver_due(row.pk)
    assert receiver.refs == ["decision:a", "decision:a", "decision:b"]
    assert receiver.received[0].delivery == receiver.received[1].delivery
    assert receiver.received[0].raw == receiver.received[1].raw


@pytest.mark.usefixtures("transactional_db")
def test_two_workers_never_send_at_once(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver)
    decide(ada, *(f"k{n}" for n in range(30)))
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(40):
                deliver_due(row.pk)
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert receiver.refs == [f"decision:k{n}" for n in range(30)]
    assert receiver.most_at_work == 1


def test_nothing_is_sent_inside_a_transaction(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver)
    decide(ada, "a")
    depth = len(connection.savepoint_ids)
    seen: list[int] = []

    def post_and_look(*arguments: Any) -> Any:
        seen.append(len(connection.savepoint_ids))
        return sending.post(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delivering, "post", post_and_look)
        deliver_due(row.pk)
    assert seen == [depth]


# -- Secrets ---------------------------------------------------------------------------------------


def test_address_and_secret_are_encrypted_and_masked(
    ada: Caller, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    new = add_webhook(caller=ada, url=receiver.url, kind="slack")
    decide(ada, "a")
    receiver.answers = [500]
    deliver_due(new.row.pk)
    row = fresh(new.row)
    stored = [str(value) for value in Webhook.unscoped.values_list().get(pk=row.pk)]
    told = [str(webhook_item(row)), str(row), caplog.text]
    told += [str(each) for each in Event.unscoped.values_list("ref", "data")]
    told += [str(delivery_item(each)) for each in deliveries(row)]
    for text in (*stored, *told):
        assert "abcdefgh" not in text
        assert new.secret not in text
    assert row.shown == f"http://127.0.0.1:{receiver.port}/…ijkl"
    assert sealing.unseal(row.sealed_url) == receiver.url


def test_an_earlier_key_is_read_and_replaced(ada: Caller, receiver: Receiver, settings: Settings) -> None:
    row = hook(ada, receiver)
    decide(ada, "a")
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another-key-0123456789-abcdefghijklmnopqrstuvwxyz"
    settings.SECRET_KEY_FALLBACKS = [old]
    deliver_due(row.pk)
    assert receiver.refs == ["decision:a"]
    cleanup(ada.project_id)
    settings.SECRET_KEY_FALLBACKS = []
    decide(ada, "b")
    deliver_due(row.pk)
    assert receiver.refs == ["decision:a", "decision:b"]


def test_without_its_key_it_is_switched_off_and_a_new_address_is_not_enough(
    ada: Caller, receiver: Receiver, settings: Settings
) -> None:
    row = hook(ada, receiver)
    decide(ada, "a")
    send_test(caller=ada, webhook_id=row.pk)
    settings.SECRET_KEY = "another-key-0123456789-abcdefghijklmnopqrstuvwxyz"
    deliver_due(row.pk)
    assert not fresh(row).is_active
    assert "CTXHUB_SECRET_KEY" in row.off_because
    assert plan_deliveries().due == []
    with pytest.raises(InvalidInput, match="delete it"):
        change_webhook(caller=ada, webhook_id=row.pk, url=receiver.url)


def test_an_address_that_looks_like_a_credential_is_taken(ada: Caller) -> None:
    url = "https://hooks.slack.com/services/" + "T0123456789/B0123456789/" + "abcdefghijklmnopqrstuvwx"
    assert add_webhook(caller=ada, url=url, kind="slack").row.shown == "https://hooks.slack.com/…uvwx"


# -- Rights, limits, keeping -----------------------------------------------------------------------


@pytest.mark.parametrize("scopes", [{READ}, {READ, WRITE}])
def test_only_administrators_keep_webhooks(ada: Caller, receiver: Receiver, scopes: set[str]) -> None:
    row = hook(ada, receiver)
    other = Caller(project=ada.project, agent="ben", scopes=frozenset(scopes))
    with pytest.raises(NotAllowed):
        add_webhook(caller=other, url=receiver.url)
    with pytest.raises(NotAllowed):
        change_webhook(caller=other, webhook_id=row.pk, active=False)
    with pytest.raises(NotAllowed):
        delete_webhook(caller=other, webhook_id=row.pk)
    with pytest.raises(NotAllowed):
        send_test(caller=other, webhook_id=row.pk)
    with pytest.raises(NotAllowed):
        send_again(caller=other, webhook_id=row.pk, ids=[1])


def test_another_projects_webhook_does_not_exist(ada: Caller, cy: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver)
    for act in (
        lambda: change_webhook(caller=cy, webhook_id=row.pk, active=False),
        lambda: delete_webhook(caller=cy, webhook_id=row.pk),
        lambda: send_test(caller=cy, webhook_id=row.pk),
        lambda: send_again(caller=cy, webhook_id=row.pk, ids=[1]),
    ):
        with pytest.raises(NotFound, match=rf"There is no webhook {row.pk}\."):
            act()


def test_a_project_has_20_at_most(ada: Caller, receiver: Receiver) -> None:
    for _ in range(20):
        hook(ada, receiver)
    with pytest.raises(LimitReached):
        hook(ada, receiver)


def test_a_change_of_nothing_writes_nothing(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver, nouns=["decision"])
    same = {"url": receiver.url, "kind": "json", "nouns": ["decision"], "active": True}
    assert change_webhook(caller=ada, webhook_id=row.pk, **same) == []
    assert verbs(ada) == ["created"]


def test_deliveries_are_kept_7_days_and_what_waits_longer(ada: Caller, receiver: Receiver, time: Any) -> None:
    row = hook(ada, receiver)
    decide(ada, "a", "b")
    receiver.answers = [204, 500]
    deliver_due(row.pk)
    time.shift(7 * 86_400 + 1)
    retention._cleaned.clear()
    cleanup(ada.project_id)
    assert states(row) == ["waiting"]


def test_deleted_it_is_gone_with_its_deliveries(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver)
    decide(ada, "a")
    deliver_due(row.pk)
    delete_webhook(caller=ada, webhook_id=row.pk)
    assert not WebhookDelivery.unscoped.exists()
    assert verbs(ada) == ["created", "deleted"]
    assert deliver_due(row.pk) == 0


# -- What it costs ---------------------------------------------------------------------------------


def test_the_plan_is_one_query(
    ada: Caller, receiver: Receiver, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(5):
        hook(ada, receiver)
    decide(ada, "a")
    with django_assert_num_queries(1):
        assert len(plan_deliveries().due) == 5


def test_a_write_writes_nothing_for_webhooks(
    ada: Caller, receiver: Receiver, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    decide(ada, "first")
    with CaptureQueriesContext(connection) as without:
        decide(ada, "a")
    for _ in range(5):
        hook(ada, receiver)
    with CaptureQueriesContext(connection) as beside:
        decide(ada, "b")
    assert len(beside) == len(without)


def test_what_is_not_told_is_looked_at_once(ada: Caller, receiver: Receiver) -> None:
    row = hook(ada, receiver, nouns=["message"])
    many(ada, 10)
    assert plan_deliveries().due == [row.pk]
    assert deliver_due(row.pk) == 0
    assert plan_deliveries().due == []
    many(ada, 1_000)
    deliver_due(row.pk)
    assert fresh(row).cursor == Event.unscoped.order_by("-pk")[0].pk
    assert DeliveryStatus.DELIVERED.label == "delivered"
