"""What the workers have to do, and when the next time comes."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.webhooks.sql import Conditions, Outlook, read_outlooks


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


def forget_looked(webhook_id: int) -> None:
    _looked.pop(webhook_id, None)


# A webhook with few events to tell need not look at all the others again. Other processes look themselves.
_looked: dict[int, tuple[Conditions, int]] = {}
when_replaced.append(_looked.clear)
