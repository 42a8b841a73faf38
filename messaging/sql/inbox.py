"""Reads an agent's inbox: the deliveries to its name, urgent first, then newest, from one index."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.priority import Priority
from messaging.models import MessageType, RequestState
from messaging.models.delivery import URGENT
from messaging.rows import IN_INBOX, MESSAGES, MessageRow

Position = tuple[int, datetime, int]
"""Keyset position of a page: priority, time and id of its last message."""

Kind = tuple[MessageType, RequestState]

KINDS: tuple[Kind, ...] = (
    *((kind, RequestState.NONE) for kind in MessageType if kind != MessageType.REQUEST),
    *((MessageType.REQUEST, state) for state in RequestState if state),
)


@frozen
class InboxQuery:
    """Filters of an inbox. `folded`: case-folded agent name; `now` decides which claims have expired."""

    project_id: int
    folded: str
    now: datetime
    unread: bool = True
    type: MessageType | None = None
    state: RequestState | None = None
    priority: Priority | None = None
    sender_id: int | None = None
    since: datetime | None = None
    has_mailbox: bool = True

    @property
    def kinds(self) -> list[Kind]:
        return [
            (kind, state)
            for kind, state in KINDS
            if self.type in (None, kind) and (self.state is None or state in _stored_as(self.state))
        ]


def read_inbox(query: InboxQuery, limit: int, after: Position | None) -> list[tuple[MessageRow, bool]]:
    """A page of messages, each with whether it still awaits the agent's acknowledgement."""
    branches = list(_branches(query, limit, after))
    if not branches:
        return []
    found = " UNION ALL ".join(statement for statement, _ in branches)
    standing, standing_values = _standing(query)
    # PostgreSQL without statistics would compare each delivery with each message; SQLite keeps the order.
    on_page = "" if sql.is_sqlite() else "AND d.id = ANY(ARRAY(SELECT message_id FROM page))"
    source = f"page CROSS JOIN {_deliveries(query)} y CROSS JOIN"
    statement = f"""
        WITH {standing}page AS MATERIALIZED (
            SELECT id, message_id FROM ({found}) u ORDER BY priority DESC, at DESC, message_id DESC LIMIT %s)
        SELECT d.ack AND y.owed AND y.acked_at IS NULL, {MESSAGES.selected(IN_INBOX, source)}
        WHERE y.id = page.id AND d.id = y.message_id {on_page}
        ORDER BY y.priority DESC, y.at DESC, y.message_id DESC"""
    values = [value for _, branch_values in branches for value in branch_values]
    on_inbox = sql.rows(statement, [*standing_values, *values, limit])
    rows = MESSAGES.as_rows((row for _, *row in on_inbox), IN_INBOX)
    return [(row, bool(to_ack)) for row, (to_ack, *_) in zip(rows, on_inbox, strict=True)]


def count_unread(project_id: int, folded: str, at_most: int) -> int:
    return _count(project_id, folded, at_most, "ORDER BY type, state")


def count_news(project_id: int, folded: str, events: sql.Selected) -> int:
    """By events (noun, verb, ref): unread messages that were sent, and own ones that others dealt with.

    A request that is done is left out: its asker is sent a message.
    """
    new, values = events
    # Values, not joins, and in a CASE: PostgreSQL without statistics would read all messages, and it may
    # cast a ref before it compares the noun.
    message_id = "CAST(substr(e.ref, 9) AS bigint)"
    unread = f"SELECT d.read_at IS NULL FROM messaging_delivery d WHERE d.message_id = {message_id}"
    sender = f"SELECT m.sender_id FROM messaging_message m WHERE m.id = {message_id}"
    own = "SELECT id FROM core_agent WHERE project_id = %s AND folded = %s"
    statement = f"""
        SELECT count(DISTINCT e.ref) FROM ({new}) e WHERE CASE WHEN e.noun <> 'message' THEN false
        WHEN e.verb IN ('sent', 'delivered', 'updated') THEN ({unread} AND d.folded = %s)
        WHEN e.verb IN ('acked', 'claimed', 'overdue', 'escalated') THEN ({sender}) IN ({own})
        ELSE false END"""
    [(count,)] = sql.rows(statement, [*values, folded, project_id, folded])
    return int(count)


def count_urgent(project_id: int, folded: str, at_most: int) -> int:
    """Without messages to everyone from before the agent came, or from while it was away: it owes nothing."""
    return _count(project_id, folded, at_most, f"AND priority >= {URGENT:d} AND owed ORDER BY priority")


def count_unread_of(project_id: int, folded: Sequence[str], at_most: int) -> dict[str, int]:
    """Unread counts of many agents by case-folded name, in one statement."""
    among, values = sql.among("a.folded", folded)
    counted = (
        "SELECT 1 FROM messaging_delivery d WHERE d.project_id = a.project_id AND d.folded = a.folded"
        " AND d.read_at IS NULL ORDER BY d.type, d.state LIMIT %s"
    )
    statement = (
        f"SELECT a.folded, (SELECT count(*) FROM ({counted}) c) FROM core_agent a"
        f" WHERE a.project_id = %s AND {among}"
    )
    return {name: int(count) for name, count in sql.rows(statement, [at_most, project_id, *values]) if count}


def _count(project_id: int, folded: str, at_most: int, condition: str) -> int:
    """Count up to `at_most` unread. Index order avoids a table scan where most rows are unread."""
    counted = "SELECT 1 FROM messaging_delivery WHERE project_id = %s AND folded = %s AND read_at IS NULL"
    statement = f"SELECT count(*) FROM ({counted} {condition} LIMIT %s) c"
    [(count,)] = sql.rows(statement, [project_id, folded, at_most])
    return int(count)


def _stored_as(state: RequestState) -> tuple[RequestState, ...]:
    """Stored states that a state may have: an expired claim is stored as claimed and counts as open."""
    return (RequestState.OPEN, RequestState.CLAIMED) if state == RequestState.OPEN else (state,)


def _branches(query: InboxQuery, limit: int, after: Position | None) -> Iterator[tuple[str, list[Any]]]:
    """One index scan for each type and state, which lead the index; with `since` for each priority, too."""
    priorities: Sequence[Priority | None] = [query.priority]
    if query.since and not query.priority:
        priorities = list(Priority)
    for kind, state in query.kinds:
        for priority in priorities:
            if not (after and priority and priority > after[0]):  # Otherwise earlier pages have shown it.
                yield _branch(query, kind, state, priority, limit, after)


def _branch(
    query: InboxQuery,
    kind: MessageType,
    state: RequestState,
    priority: Priority | None,
    limit: int,
    after: Position | None,
) -> tuple[str, list[Any]]:
    conditions = "d.project_id = %s AND d.folded = %s AND d.type = %s AND d.state = %s"
    values: list[Any] = [query.project_id, query.folded, kind.value, state.value]
    if priority:
        conditions += " AND d.priority = %s"
        values.append(priority.value)
    if query.unread:
        conditions += " AND d.read_at IS NULL"
    if query.since:
        conditions += " AND d.at >= %s"
        values.append(sql.stored_time(query.since))
    if query.sender_id is not None:
        # A value, as with the claim below.
        sender = "SELECT s.sender_id FROM messaging_message s WHERE s.id = d.message_id"
        conditions += f" AND ({sender}) = %s"
        values.append(query.sender_id)
    if query.state and state == RequestState.CLAIMED:
        comparison = ">" if query.state == RequestState.CLAIMED else "<="
        # A value, not EXISTS: PostgreSQL would join that, and read the claims of everybody.
        claim = "SELECT c.claimed_until FROM messaging_message c WHERE c.id = d.message_id"
        conditions += f" AND ({claim}) {comparison} %s"
        values.append(sql.stored_time(query.now))
    if after and priority in (None, after[0]):
        last_priority, last_at, last_id = after
        is_fixed = priority is not None
        conditions += (
            " AND (d.at, d.message_id) < (%s, %s)"
            if is_fixed
            else " AND (d.priority, d.at, d.message_id) < (%s, %s, %s)"
        )
        values += [*(() if is_fixed else (last_priority,)), sql.stored_time(last_at), last_id]
    statement = f"""
        SELECT * FROM (SELECT d.id, d.priority, d.at, d.message_id
        FROM {_deliveries(query)} d {_index(query)} WHERE {conditions}
        ORDER BY d.priority DESC, d.at DESC, d.message_id DESC LIMIT %s) arm"""
    return statement, [*values, limit]


def _index(query: InboxQuery) -> str:
    """Force the index: SQLite rates both alike and would search the unread among all deliveries."""
    if not sql.is_sqlite() or not query.has_mailbox:
        return ""
    return f"INDEXED BY messaging_{'unread' if query.unread else 'inbox'}"


def _deliveries(query: InboxQuery) -> str:
    return "messaging_delivery" if query.has_mailbox else "deliveries"


def _standing(query: InboxQuery) -> tuple[str, list[Any]]:
    """The deliveries of an agent without a mailbox, and those that opening it would add, as a table."""
    if query.has_mailbox:
        return "", []
    statement = """deliveries AS (
            SELECT id, project_id, folded, message_id, type, state, priority, at, owed, read_at, acked_at
            FROM messaging_delivery WHERE project_id = %s AND folded = %s
            UNION ALL
            SELECT -id, project_id, %s, id, type, state, priority, created_at, false, NULL, NULL
            FROM messaging_message WHERE project_id = %s AND to_everyone),
        """
    return statement, [query.project_id, query.folded, query.folded, query.project_id]
