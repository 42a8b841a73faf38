"""SQL of webhooks: the lease of a webhook, its next events, and marks of what was delivered."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.webhooks.models import DeliveryStatus

_WAITING = DeliveryStatus.WAITING.value


@frozen
class Conditions:
    """Which events a webhook is told; empty: any, but those of the hub itself."""

    nouns: Sequence[str]
    verbs: Sequence[str]
    priority: Sequence[str]


@frozen
class LeasedWebhook:
    """A webhook as its worker reads it before each delivery. `slug`: of its project."""

    id: int
    project_id: int
    slug: str
    kind: int
    sealed_url: str
    sealed_secret: str
    conditions: Conditions
    is_active: bool
    cursor: int
    failures: int
    holder: str
    lease_until: datetime | None


@frozen
class WebhookEvent:
    id: int
    at: datetime
    noun: str
    verb: str
    ref: str
    agent: str
    data: Mapping[str, Any]


@frozen
class WaitingDelivery:
    """A stored delivery that waits; `event_id` is None for a test."""

    id: int
    event_id: int | None
    first_id: int | None
    events: int
    is_aside: bool
    tries: int
    next_at: datetime


# -- The lease -------------------------------------------------------------------------------------


def claim(webhook_id: int, holder: str, now: datetime, until: datetime) -> bool:
    """Take the lease if nobody has it, or extend one's own. One statement: of two workers one succeeds."""
    return bool(
        sql.rows(
            """UPDATE core_webhook SET lease_holder = %s, lease_until = %s
            WHERE id = %s AND (lease_holder = %s OR lease_until IS NULL OR lease_until <= %s) RETURNING id""",
            [holder, sql.stored_time(until), webhook_id, holder, sql.stored_time(now)],
        )
    )


def release(webhook_id: int, holder: str) -> None:
    sql.execute(
        "UPDATE core_webhook SET lease_holder = '', lease_until = NULL WHERE id = %s AND lease_holder = %s",
        [webhook_id, holder],
    )


def read_leased(webhook_id: int) -> LeasedWebhook | None:
    found = sql.rows(
        """SELECT w.id, w.project_id, p.slug, w.kind, w.sealed_url, w.sealed_secret, w.nouns, w.verbs,
            w.priority, w.is_active, w.cursor, w.failures, w.lease_holder, w.lease_until
        FROM core_webhook w JOIN core_project p ON p.id = w.project_id WHERE w.id = %s""",
        [webhook_id],
    )
    if not found:
        return None
    row_id, project_id, slug, kind, url, secret, *conditions = found[0][:9]
    is_active, cursor, failures, holder, until = found[0][9:]
    return LeasedWebhook(
        id=row_id,
        project_id=project_id,
        slug=slug,
        kind=kind,
        sealed_url=url,
        sealed_secret=secret,
        conditions=Conditions(*map(sql.read_json, conditions)),
        is_active=bool(is_active),
        cursor=cursor,
        failures=failures,
        holder=holder,
        lease_until=sql.read_time(until) if until else None,
    )


# -- What is due -----------------------------------------------------------------------------------


@frozen
class Outlook:
    """A webhook and what it waits for: the next events, a try again, or a delivery out of order."""

    id: int
    project_id: int
    is_active: bool
    cursor: int
    newest: int
    holder: str
    lease_until: datetime | None
    head_at: datetime | None
    aside_at: datetime | None


def read_outlooks() -> list[Outlook]:
    """All webhooks that may have something to do, in one statement."""
    next_at = (
        "SELECT min(d.next_at) FROM core_webhookdelivery d"
        f" WHERE d.webhook_id = w.id AND d.status = {_WAITING} AND {{}} d.is_aside"
    )
    found = sql.rows(
        f"""SELECT w.id, w.project_id, w.is_active, w.cursor,
            coalesce((SELECT max(e.id) FROM core_event e WHERE e.project_id = w.project_id), 0),
            w.lease_holder, w.lease_until, ({next_at.format("NOT")}), ({next_at.format("")})
        FROM core_webhook w ORDER BY w.id"""
    )
    return [
        Outlook(
            *(row_id, project_id, bool(is_active), cursor, newest, holder),
            *(sql.read_time(at) if at else None for at in times),
        )
        for row_id, project_id, is_active, cursor, newest, holder, *times in found
    ]


def read_waiting(webhook_id: int) -> list[WaitingDelivery]:
    """Those that wait: the head of the line first, if it was tried, then those out of order."""
    found = sql.rows(
        f"""SELECT id, event_id, first_id, events, is_aside, tries, next_at FROM core_webhookdelivery
        WHERE webhook_id = %s AND status = {_WAITING} ORDER BY is_aside, next_at, id LIMIT 100""",
        [webhook_id],
    )
    return [
        WaitingDelivery(row_id, event_id, first_id, events, bool(is_aside), tries, sql.read_time(next_at))
        for row_id, event_id, first_id, events, is_aside, tries, next_at in found
    ]


# -- Events ----------------------------------------------------------------------------------------


def newest_event(project_id: int) -> int:
    [(newest,)] = sql.rows("SELECT coalesce(max(id), 0) FROM core_event WHERE project_id = %s", [project_id])
    return int(newest)


def read_events(
    project_id: int, conditions: Conditions, after: int, up_to: int, at_most: int
) -> list[WebhookEvent]:
    """The next events that pass the conditions, the oldest first."""
    which, values = _passing(project_id, conditions, after, up_to)
    return _events(f"{which} ORDER BY e.id LIMIT %s", [*values, at_most])


def read_event(project_id: int, event_id: int) -> WebhookEvent | None:
    return next(iter(_events("e.project_id = %s AND e.id = %s", [project_id, event_id])), None)


def count_events(project_id: int, conditions: Conditions, after: int, up_to: int, at_most: int) -> int:
    """How many pass the conditions, counted to `at_most`."""
    which, values = _passing(project_id, conditions, after, up_to)
    statement = f"SELECT count(*) FROM (SELECT 1 FROM core_event e WHERE {which} LIMIT %s) passing"
    [(count,)] = sql.rows(statement, [*values, at_most])
    return int(count)


def count_by_verb(
    project_id: int, conditions: Conditions, after: int, up_to: int
) -> list[tuple[str, str, int, datetime]]:
    """Noun, verb, how many, and the time of the first."""
    which, values = _passing(project_id, conditions, after, up_to)
    statement = f"""SELECT e.noun, e.verb, count(*), min(e.at) FROM core_event e WHERE {which}
        GROUP BY e.noun, e.verb ORDER BY count(*) DESC, e.noun, e.verb"""
    return [
        (noun, verb, int(count), sql.read_time(at)) for noun, verb, count, at in sql.rows(statement, values)
    ]


def _passing(project_id: int, conditions: Conditions, after: int, up_to: int) -> tuple[str, list[Any]]:
    which, values = ["e.project_id = %s", "e.id > %s", "e.id <= %s"], [project_id, after, up_to]
    wanted: list[Any] = list(values)
    if not conditions.nouns:
        which.append("e.noun <> 'hub'")
    priority = "json_extract(e.data, '$.priority')" if sql.is_sqlite() else "e.data ->> 'priority'"
    for column, words in (
        ("e.noun", conditions.nouns),
        ("e.verb", conditions.verbs),
        (priority, conditions.priority),
    ):
        if words:
            which.append(f"{column} IN ({sql.marks(words)})")
            wanted += words
    return " AND ".join(which), wanted


def _events(which: str, values: Sequence[Any]) -> list[WebhookEvent]:
    found = sql.rows(
        f"""SELECT e.id, e.at, e.noun, e.verb, e.ref, a.name, e.data FROM core_event e
        LEFT JOIN core_agent a ON a.id = e.agent_id WHERE {which}""",
        values,
    )
    return [
        WebhookEvent(row_id, sql.read_time(at), noun, verb, ref, agent or "system", sql.read_json(data))
        for row_id, at, noun, verb, ref, agent, data in found
    ]


# -- Marks -----------------------------------------------------------------------------------------


def mark_webhook(
    webhook_id: int, holder: str, *, cursor: int, failures: int, off_because: str, now: datetime
) -> bool:
    """Move the cursor and count the failures, if the lease still is the worker's. `off_because`: if not "",
    the webhook is switched off.
    """
    off = ", is_active = false, off_because = %s, off_at = %s" if off_because else ""
    more = [off_because, sql.stored_time(now)] if off_because else []
    return bool(
        sql.rows(
            f"""UPDATE core_webhook
            SET cursor = CASE WHEN cursor < %s THEN %s ELSE cursor END, failures = %s{off}
            WHERE id = %s AND lease_holder = %s RETURNING id""",
            [cursor, cursor, failures, *more, webhook_id, holder],
        )
    )


def remove_old(project_id: int, before: datetime, at_most: int) -> int:
    """Remove the oldest deliveries that do not wait."""
    found = sql.rows(
        f"""DELETE FROM core_webhookdelivery WHERE id IN (
            SELECT id FROM core_webhookdelivery WHERE project_id = %s AND created_at < %s
            AND status <> {_WAITING} ORDER BY created_at LIMIT %s) RETURNING id""",
        [project_id, sql.stored_time(before), at_most],
    )
    return len(found)
