"""What the workers have to do, and when the next time comes; what is removed and encrypted again."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from ctxhub.core.accounts.models import Config
from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.webhooks.models import Webhook
from ctxhub.core.webhooks.sealing import Unreadable, is_sealed_by_earlier_key, seal_again
from ctxhub.core.webhooks.sql import Conditions, Outlook, read_outlooks, remove_old

# The serving process registers its worker; each may be called in any thread.
workers: list[Callable[[], None]] = []


def wake_on_commit() -> None:
    transaction.on_commit(wake)


def wake() -> None:
    for wake_worker in workers:
        wake_worker()


@frozen
class Plan:
    """`due`: the ids of the webhooks to deliver to now. `next_at`: when more is due, if no event comes.

    `newest`: of each project with active webhooks the newest event that was seen.
    """

    due: Sequence[int]
    next_at: datetime | None
    newest: Mapping[int, int]


def plan_deliveries(busy: Collection[int] = (), holder: str = "") -> Plan:
    """Looks at all webhooks in one query, but for those that the worker, `holder`, is `busy` with."""
    now = clock.now()
    outlooks = read_outlooks()
    starts = {each.id: at for each in outlooks if each.id not in busy and (at := _starts(each, holder, now))}
    later = [at for at in starts.values() if at > now]
    return Plan(
        due=[webhook_id for webhook_id, at in starts.items() if at <= now],
        next_at=min(later, default=None),
        newest={each.project_id: each.newest for each in outlooks if each.is_active},
    )


def _starts(each: Outlook, holder: str, now: datetime) -> datetime | None:
    """When there is something to deliver; None: nothing, until an event comes."""
    times = [each.aside_at] if each.aside_at else []
    if each.is_active:
        if each.head_at:
            times.append(each.head_at)
        elif each.newest > max(each.cursor, looked_at(each.id)):
            times.append(now)
    if not times:
        return None
    # Who has the lease delivers; if it is gone, others may when the lease ends. A lease of its own that is
    # not busy was left when the database was away.
    until = each.lease_until if each.holder != holder else None
    return max(min(times), until or now)


# -- How far this process has looked for events that pass the conditions ---------------------------


def looked_at(webhook_id: int, conditions: Conditions | None = None) -> int:
    """The id of the last event looked at, with these conditions."""
    known = _looked.get(webhook_id)
    return known[1] if known and conditions in (None, known[0]) else 0


def note_looked(webhook_id: int, conditions: Conditions, event_id: int) -> None:
    _looked[webhook_id] = (conditions, event_id)


# A webhook with few events to tell need not look at all the others again. Other processes look themselves.
_looked: dict[int, tuple[Conditions, int]] = {}
when_replaced.append(_looked.clear)


KEPT = timedelta(days=7)
REMOVED_AT_ONCE = 500


def clean_deliveries(project_id: int, now: datetime, _: Config) -> None:
    """They are the record of what was sent, no rows that a person counts."""
    remove_old(project_id, now - KEPT, REMOVED_AT_ONCE)
    if settings.SECRET_KEY_FALLBACKS:
        _seal_again(project_id)


def _seal_again(project_id: int) -> None:
    """So that the earlier key can be dropped. What no key reads stays, and is told where it is used."""
    for row in Webhook.objects.in_project(project_id).only("pk", "project_id", "sealed_url", "sealed_secret"):
        if is_sealed_by_earlier_key(row.sealed_url) or is_sealed_by_earlier_key(row.sealed_secret):
            with suppress(Unreadable):
                row.sealed_url = seal_again(row.sealed_url)
                row.sealed_secret = seal_again(row.sealed_secret)
                row.save(update_fields=["sealed_url", "sealed_secret"])
