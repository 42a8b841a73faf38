"""Delivers to one webhook: in the order of the events, each at least once, by the worker with the lease.

A try ends with one transaction that notes what came of it. Nothing is sent inside a transaction: a process
that ends between the two sends the same again, under the same name (`X-Ctxhub-Delivery`).
"""

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from secrets import token_hex

from django.conf import settings

from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.transactions import touch_transaction, write_transaction
from ctxhub.core.webhooks.addresses import clean_url
from ctxhub.core.webhooks.due import looked_at, note_looked
from ctxhub.core.webhooks.letters import Letter, Summary, letter_of, letter_of_test, summary_of
from ctxhub.core.webhooks.models import DeliveryStatus, WebhookKind
from ctxhub.core.webhooks.sealing import Unreadable, signature, unseal
from ctxhub.core.webhooks.sending import CannotReach, Outcome, find_addresses, next_try, post
from ctxhub.core.webhooks.shapes import body_of, is_chat
from ctxhub.core.webhooks.sql import (
    Conditions,
    LeasedWebhook,
    WaitingDelivery,
    WebhookEvent,
    claim,
    count_events,
    mark_webhook,
    newest_event,
    read_event,
    read_events,
    read_leased,
    read_waiting,
    release,
)

# So many, then another webhook has its turn.
AT_ONCE = 50
LEASE = timedelta(seconds=30)
# A try takes at most 5 s once its connection is asked for.
LEFT_FOR_A_TRY = timedelta(seconds=15)
MOST_FAILURES = 20
# Further behind, people get a summary.
MOST_SENTENCES = 1_000
# The cursor need not pass every event that is not told.
PASSED_AT_LEAST = 1_000

GONE = "The event is no longer in the log."
UNREADABLE = (
    "its address cannot be read: CTXHUB_SECRET_KEY has changed, and the old one is not among "
    "CTXHUB_SECRET_KEY_FALLBACKS"
)


@frozen
class Parcel:
    """What to send next. `delivery_id`: of the stored one, if it was tried before."""

    event_id: int | None
    first_id: int | None = None
    events: int = 1
    is_aside: bool = False
    tries: int = 0
    delivery_id: int | None = None
    event: WebhookEvent | None = None

    @property
    def is_test(self) -> bool:
        return self.event_id is None


def deliver_due(
    webhook_id: int, is_ending: Callable[[], bool] = lambda: False, holder: str | None = None
) -> int:
    """Deliver what is due, if no other worker than `holder` does; how many tries were made, at most
    AT_ONCE.
    """
    holder, now = holder or token_hex(8), clock.now()
    with touch_transaction():
        is_mine = claim(webhook_id, holder, now, now + LEASE)
    if not is_mine:
        return 0
    try:
        line = _Line(webhook_id, holder)
        for tries in range(AT_ONCE):
            if is_ending() or not line.deliver_next():
                return tries
        return AT_ONCE
    finally:
        with touch_transaction():
            release(webhook_id, holder)


class _Line:
    """What waits for one webhook, while this worker has its lease."""

    def __init__(self, webhook_id: int, holder: str) -> None:
        self._webhook_id, self._holder = webhook_id, holder
        self._events: deque[WebhookEvent] | None = None
        self._conditions: Conditions | None = None

    def deliver_next(self) -> bool:
        """Try one delivery; False if none is due, or the lease is another's now."""
        webhook = read_leased(self._webhook_id)
        if webhook is None or webhook.holder != self._holder:
            return False
        parcel = self._next(webhook)
        if parcel is None:
            return False
        try:
            outcome = self._try(webhook, parcel)
        except Unreadable:
            self._switch_off(webhook, UNREADABLE)
            return False
        return outcome is not None and self._note(webhook, parcel, outcome)

    # -- What is next ------------------------------------------------------------------------------

    def _next(self, webhook: LeasedWebhook) -> Parcel | None:
        waiting, now = read_waiting(webhook.id), clock.now()
        for delivery in waiting:
            if delivery.is_aside and delivery.next_at <= now:
                return _again(delivery)
        if not webhook.is_active:
            return None
        if head := next((delivery for delivery in waiting if not delivery.is_aside), None):
            return _again(head) if head.next_at <= now else None
        return self._next_events(webhook)

    def _next_events(self, webhook: LeasedWebhook) -> Parcel | None:
        if self._events is None or self._conditions != webhook.conditions:
            newest = newest_event(webhook.project_id)
            after = max(webhook.cursor, looked_at(webhook.id, webhook.conditions))
            if parcel := _summary(webhook, after, newest):
                return parcel
            self._conditions = webhook.conditions
            self._events = self._read(webhook, after, newest)
        while self._events:
            event = self._events.popleft()
            if event.id > webhook.cursor:
                return Parcel(event_id=event.id, first_id=event.id, event=event)
        return None

    def _read(self, webhook: LeasedWebhook, after: int, newest: int) -> deque[WebhookEvent]:
        events = read_events(webhook.project_id, webhook.conditions, after, newest, AT_ONCE)
        if not events:
            note_looked(webhook.id, webhook.conditions, newest)
            if newest - webhook.cursor >= PASSED_AT_LEAST:
                with touch_transaction():
                    self._mark(webhook, cursor=newest)
        return deque(events)

    # -- The try -----------------------------------------------------------------------------------

    def _try(self, webhook: LeasedWebhook, parcel: Parcel) -> Outcome | None:
        """What came of it; None if the lease is another's now. Raises Unreadable."""
        url, secret = unseal(webhook.sealed_url), unseal(webhook.sealed_secret)
        letter = _letter(webhook, parcel)
        if letter is None:
            return Outcome(problem=GONE)
        body = body_of(webhook.kind, letter)
        try:
            target = clean_url(url, allow_private=settings.WEBHOOK_PRIVATE)
            addresses = find_addresses(target)
        except (InvalidInput, CannotReach) as error:
            return Outcome(problem=str(error))
        if not self._has_time(webhook):
            return None
        return post(target, addresses, _headers(webhook, parcel, letter, secret, body), body)

    def _has_time(self, webhook: LeasedWebhook) -> bool:
        """Whether the lease lasts for a try; extends it, if it is not another's by now."""
        now = clock.now()
        if webhook.lease_until and webhook.lease_until - now >= LEFT_FOR_A_TRY:
            return True
        with touch_transaction():
            return claim(webhook.id, self._holder, now, now + LEASE)

    # -- What came of it ---------------------------------------------------------------------------

    def _note(self, webhook: LeasedWebhook, parcel: Parcel, outcome: Outcome) -> bool:
        now = clock.now()
        tries = parcel.tries + 1
        again = None if outcome.is_delivered or parcel.is_test else _next_try(outcome, tries, now)
        failures = _failures(webhook, parcel, outcome)
        status = _status(outcome, again)
        off = f"{failures} tries in a row failed" if failures >= MOST_FAILURES and webhook.is_active else ""
        is_done = status != DeliveryStatus.WAITING and not parcel.is_aside
        with write_transaction(webhook.project_id) if off else touch_transaction():
            cursor = parcel.event_id if is_done and parcel.event_id else 0
            if not self._mark(webhook, cursor=cursor, failures=failures, off=off):
                return False
            _store(webhook, parcel, outcome, status=status, tries=tries, next_at=again, now=now)
            if off:
                _record_off(webhook, off, now)
        return True

    def _switch_off(self, webhook: LeasedWebhook, reason: str) -> None:
        with write_transaction(webhook.project_id):
            _store_unreadable(webhook)
            if webhook.is_active and self._mark(webhook, off=reason):
                _record_off(webhook, reason, clock.now())

    def _mark(
        self, webhook: LeasedWebhook, *, cursor: int = 0, failures: int | None = None, off: str = ""
    ) -> bool:
        return mark_webhook(
            webhook.id,
            self._holder,
            cursor=cursor,
            failures=webhook.failures if failures is None else failures,
            off_because=off,
            now=clock.now(),
        )


def _again(delivery: WaitingDelivery) -> Parcel:
    return Parcel(
        event_id=delivery.event_id,
        first_id=delivery.first_id,
        events=delivery.events,
        is_aside=delivery.is_aside,
        tries=delivery.tries,
        delivery_id=delivery.id,
    )


def _summary(webhook: LeasedWebhook, after: int, newest: int) -> Parcel | None:
    """All that waits at once, for people, if it is too much to read."""
    if not is_chat(webhook.kind):
        return None
    behind = count_events(webhook.project_id, webhook.conditions, after, newest, MOST_SENTENCES + 1)
    if behind <= MOST_SENTENCES:
        return None
    return Parcel(event_id=newest, first_id=after + 1, events=behind)


def _letter(webhook: LeasedWebhook, parcel: Parcel) -> Letter | Summary | None:
    """None if its events are gone."""
    if parcel.event_id is None:
        return letter_of_test(webhook, clock.now())
    if parcel.events > 1:
        return summary_of(webhook, (parcel.first_id or 1) - 1, parcel.event_id, is_again=parcel.is_aside)
    event = parcel.event or read_event(webhook.project_id, parcel.event_id)
    return letter_of(event, webhook.slug, is_again=parcel.is_aside) if event else None


def _headers(
    webhook: LeasedWebhook, parcel: Parcel, letter: Letter | Summary, secret: str, body: bytes
) -> dict[str, str]:
    timestamp = str(int(clock.now().timestamp()))
    name = f"t{parcel.delivery_id}" if parcel.is_test else f"e{parcel.event_id}"
    return {
        "Content-Type": "application/json",
        "X-Ctxhub-Event": letter.name,
        "X-Ctxhub-Delivery": f"w{webhook.id}-{name}",
        "X-Ctxhub-Timestamp": timestamp,
        "X-Ctxhub-Signature": signature(secret, timestamp, body),
    }


def _next_try(outcome: Outcome, tries: int, now: datetime) -> datetime | None:
    return None if outcome.problem == GONE else next_try(outcome, tries, now)


def _failures(webhook: LeasedWebhook, parcel: Parcel, outcome: Outcome) -> int:
    """How many tries failed in a row. Tests do not count, nor what the log has lost."""
    if parcel.is_test or outcome.problem == GONE:
        return webhook.failures
    return 0 if outcome.is_delivered else webhook.failures + 1


def _status(outcome: Outcome, again: datetime | None) -> DeliveryStatus:
    if outcome.is_delivered:
        return DeliveryStatus.DELIVERED
    return DeliveryStatus.WAITING if again else DeliveryStatus.DEAD


def _store(
    webhook: LeasedWebhook,
    parcel: Parcel,
    outcome: Outcome,
    *,
    status: DeliveryStatus,
    tries: int,
    next_at: datetime | None,
    now: datetime,
) -> None:
    noted = {
        "status": status.value,
        "tries": tries,
        "next_at": sql.stored_time(next_at) if next_at else None,
        "code": outcome.code,
        "answer": outcome.answer,
        "problem": outcome.problem,
        "tried_at": sql.stored_time(now),
    }
    if parcel.delivery_id is not None:
        columns = ", ".join(f"{name} = %s" for name in noted)
        sql.execute(
            f"UPDATE core_webhookdelivery SET {columns} WHERE id = %s", [*noted.values(), parcel.delivery_id]
        )
        return
    row = {
        "project_id": webhook.project_id,
        "webhook_id": webhook.id,
        "event_id": parcel.event_id,
        "first_id": parcel.first_id,
        "events": parcel.events,
        "is_aside": parcel.is_aside,
        "created_at": sql.stored_time(now),
        **noted,
    }
    # A restored database may know it.
    known = ", ".join(f"{name} = excluded.{name}" for name in noted)
    sql.insert(
        "core_webhookdelivery",
        tuple(row),
        [list(row.values())],
        f"ON CONFLICT (webhook_id, event_id) DO UPDATE SET {known}",
    )


def _store_unreadable(webhook: LeasedWebhook) -> None:
    """Give up what waits out of order, which would be tried for ever; the line waits for a new address."""
    sql.execute(
        "UPDATE core_webhookdelivery SET status = %s, next_at = NULL, problem = %s"
        " WHERE webhook_id = %s AND status = %s AND is_aside",
        [
            DeliveryStatus.DEAD.value,
            f"Not sent: {UNREADABLE}."[:300],
            webhook.id,
            DeliveryStatus.WAITING.value,
        ],
    )


def _record_off(webhook: LeasedWebhook, reason: str, now: datetime) -> None:
    kind = str(WebhookKind(webhook.kind).label)
    record(
        project_id=webhook.project_id,
        agent_id=None,
        changes=[Change("hub", "switched_off", f"webhook:{webhook.id}", {"note": f"{kind}: {reason}"})],
        at=now,
    )
