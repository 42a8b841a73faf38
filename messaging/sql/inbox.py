"""An agent's inbox: the deliveries under its name, urgent first, then newest, as a walk of one index."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.priority import Priority
from messaging.models import MessageType, RequestState
from messaging.models.delivery import URGENT
from messaging.rows import JOINED, MessageRow, as_row, selected

Place = tuple[int, datetime, int]
"""Where a page ended: priority, time and id of its last message."""

Kind = tuple[MessageType, RequestState]

KINDS: tuple[Kind, ...] = (
    *((kind, RequestState.NONE) for kind in MessageType if kind != MessageType.REQUEST),
    *((MessageType.REQUEST, state) for state in RequestState if state),
)


@dataclass(frozen=True, slots=True)
class InboxQuery:
    """What is looked for under a name. `now` tells a claim that holds from one that has expired."""

    project_id: int
    folded: str
    now: datetime
    unread: bool = True
    type: MessageType | None = None
    state: RequestState | None = None
    priority: Priority | None = None
    since: datetime | None = None

    @property
    def kinds(self) -> list[Kind]:
        return [
            (kind, state)
            for kind, state in KINDS
            if self.type in (None, kind) and (self.state is None or state in _stored_as(self.state))
        ]


def read_inbox(walk: InboxQuery, limit: int, after: Place | None) -> list[tuple[MessageRow, bool]]:
    """A page of messages, each with whether the agent has still to acknowledge it."""
    branches = list(_branches(walk, limit, after))
    if not branches:
        return []
    found = " UNION ALL ".join(statement for statement, _ in branches)
    statement = f"""
        WITH page AS MATERIALIZED (
            SELECT id FROM ({found}) u ORDER BY priority DESC, at DESC, message_id DESC LIMIT %s)
        SELECT m.ack AND d.acked_at IS NULL, {selected()}
        FROM page CROSS JOIN messaging_delivery d JOIN messaging_message m ON m.id = d.message_id {JOINED}
        WHERE d.id = page.id ORDER BY d.priority DESC, d.at DESC, d.message_id DESC"""  # noqa: S608
    values = [value for _, arm_values in branches for value in arm_values]
    return [(as_row(row), bool(to_ack)) for to_ack, *row in sql.rows(statement, [*values, limit])]


def count_unread(project_id: int, folded: str, at_most: int) -> int:
    return _count(project_id, folded, at_most, "ORDER BY type, state")


def count_urgent(project_id: int, folded: str, at_most: int) -> int:
    return _count(project_id, folded, at_most, f"AND priority >= {URGENT:d} ORDER BY priority")


def count_unread_of(project_id: int, folded: Sequence[str], at_most: int) -> dict[str, int]:
    """The same for many agents, in one statement."""
    among, values = sql.among("a.folded", folded)
    counted = (
        "SELECT 1 FROM messaging_delivery d WHERE d.project_id = a.project_id AND d.folded = a.folded"
        " AND d.read_at IS NULL ORDER BY d.type, d.state LIMIT %s"
    )
    statement = (
        f"SELECT a.folded, (SELECT count(*) FROM ({counted}) c) FROM core_agent a"  # noqa: S608
        f" WHERE a.project_id = %s AND {among}"
    )
    return {name: int(count) for name, count in sql.rows(statement, [at_most, project_id, *values]) if count}


def _count(project_id: int, folded: str, at_most: int, condition: str) -> int:
    """In the order of the index: else a table where most is unread would be read from its beginning."""
    counted = "SELECT 1 FROM messaging_delivery WHERE project_id = %s AND folded = %s AND read_at IS NULL"
    statement = f"SELECT count(*) FROM ({counted} {condition} LIMIT %s) c"  # noqa: S608
    [(count,)] = sql.rows(statement, [project_id, folded, at_most])
    return int(count)


def _stored_as(state: RequestState) -> tuple[RequestState, ...]:
    """What is stored as claimed is open once the claim has expired."""
    return (RequestState.OPEN, RequestState.CLAIMED) if state == RequestState.OPEN else (state,)


def _branches(walk: InboxQuery, limit: int, after: Place | None) -> Iterator[tuple[str, list[Any]]]:
    """The index leads with type and state, so each has a walk of its own; with `since` each priority too."""
    priorities: Sequence[Priority | None] = [walk.priority]
    if walk.since and not walk.priority:
        priorities = list(Priority)
    for kind, state in walk.kinds:
        for priority in priorities:
            if not (after and priority and priority > after[0]):  # Else it has been shown.
                yield _arm(walk, kind, state, priority, limit, after)


def _arm(
    walk: InboxQuery,
    kind: MessageType,
    state: RequestState,
    priority: Priority | None,
    limit: int,
    after: Place | None,
) -> tuple[str, list[Any]]:
    conditions = "d.project_id = %s AND d.folded = %s AND d.type = %s AND d.state = %s"
    values: list[Any] = [walk.project_id, walk.folded, kind.value, state.value]
    if priority:
        conditions += " AND d.priority = %s"
        values.append(priority.value)
    if walk.unread:
        conditions += " AND d.read_at IS NULL"
    if walk.since:
        conditions += " AND d.at >= %s"
        values.append(sql.stored_time(walk.since))
    if walk.state and state == RequestState.CLAIMED:
        holds = ">" if walk.state == RequestState.CLAIMED else "<="
        # A value, not EXISTS: PostgreSQL would join that, and read the claims of everybody.
        claim = "SELECT c.claimed_until FROM messaging_message c WHERE c.id = d.message_id"
        conditions += f" AND ({claim}) {holds} %s"
        values.append(sql.stored_time(walk.now))
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
        FROM messaging_delivery d {_index(walk)} WHERE {conditions}
        ORDER BY d.priority DESC, d.at DESC, d.message_id DESC LIMIT %s) arm"""  # noqa: S608
    return statement, [*values, limit]


def _index(walk: InboxQuery) -> str:
    """SQLite finds both indexes as good, and would look for the unread among all."""
    if connection.vendor != "sqlite":
        return ""
    return f"INDEXED BY messaging_{'unread' if walk.unread else 'inbox'}"
