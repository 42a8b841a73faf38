"""An agent's inbox: what is unread or owed, urgent first; also by priority, as a named view."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, TypedDict, Unpack

from ctxhub.core.accounts.agents import author_id
from ctxhub.core.events import waiting
from ctxhub.core.events.log import latest_cursor, moment_of
from ctxhub.core.hub.named_views import register_view
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_choice, clean_limit, clean_moment
from ctxhub.core.kit.listing import COUNTED_TO, Listing, make_cursor, read_cursor
from ctxhub.core.kit.ordering import Ordering
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.sql import Selected
from ctxhub.toolbox.argument_types import (
    SINCE,
    About,
    ByAgentUndeclared,
    Cursor,
    Default,
    Limit,
    Number,
    Says,
    Word,
)
from messaging.messages.inputs import TYPES
from messaging.messages.models import URGENT
from messaging.messages.queries import clean_state
from messaging.messages.rows import (
    IN_INBOX,
    MESSAGES,
    URGENT_FIRST,
    InboxOrder,
    MessageRow,
    Position,
    inbox_order,
)
from messaging.models import MessageType, RequestState

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
    order: InboxOrder = URGENT_FIRST

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
            SELECT id, message_id FROM ({found}) u
            ORDER BY {query.order.by("priority", "at", "message_id")} LIMIT %s)
        SELECT d.ack AND y.owed AND y.acked_at IS NULL, {MESSAGES.selected(IN_INBOX, source)}
        WHERE y.id = page.id AND d.id = y.message_id {on_page}
        ORDER BY {query.order.by("y.priority", "y.at", "y.message_id")}"""
    values = [value for _, branch_values in branches for value in branch_values]
    on_inbox = sql.rows(statement, [*standing_values, *values, limit])
    rows = MESSAGES.as_rows((row for _, *row in on_inbox), IN_INBOX)
    return [(row, bool(to_ack)) for row, (to_ack, *_) in zip(rows, on_inbox, strict=True)]


def count_unread(project_id: int, folded: str, at_most: int) -> int:
    return _count(project_id, folded, at_most, "ORDER BY type, state")


def count_new_messages(project_id: int, folded: str, events: sql.Selected) -> int:
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


def count_urgent_messages(project_id: int, folded: str, at_most: int) -> int:
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
    """One index scan for each type and state, which lead the index; by time, too, for each priority."""
    priorities: Sequence[Priority | None] = [query.priority]
    if (query.since or query.order.by_time) and not query.priority:
        priorities = list(Priority)
    for kind, state in query.kinds:
        for priority in priorities:
            if not (after and priority and query.order.is_over(priority, after)):
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
    if after and (query.order.by_time or priority in (None, after[0])):
        last_priority, last_at, last_id = after
        is_fixed, beyond = priority is not None, query.order.way.beyond
        conditions += (
            f" AND (d.at, d.message_id) {beyond} (%s, %s)"
            if is_fixed
            else f" AND (d.priority, d.at, d.message_id) {beyond} (%s, %s, %s)"
        )
        values += [*(() if is_fixed else (last_priority,)), sql.stored_time(last_at), last_id]
    statement = f"""
        SELECT * FROM (SELECT d.id, d.priority, d.at, d.message_id
        FROM {_deliveries(query)} d {_index(query)} WHERE {conditions}
        ORDER BY {query.order.way.of("d.priority", "d.at", "d.message_id")} LIMIT %s) arm"""
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


COLUMNS = (
    *("id", "from", "to", "type", "priority", "text", "payload", "choices", "choice", "thread", "ack", "at"),
)


def find_inbox(
    project_id: int, folded: str, now: datetime, *, unread: bool, limit: int, after: Position | None = None
) -> list[tuple[MessageRow, bool]]:
    """A page of the messages to an agent, each with whether it still awaits the agent's acknowledgement."""
    return read_inbox(InboxQuery(project_id, folded, now, unread=unread), limit, after)


InState = Annotated[
    Word,
    Says("open|claimed|done", in_description=False),
    About("Requests in this state; an expired claim is open."),
]
WaitSeconds = Annotated[
    Number,
    Default(0),
    About(
        "Answer when something arrives, or after so many seconds.",
        {"minimum": 0, "maximum": waiting.LONGEST_SECONDS},
    ),
]


class InboxFilters(TypedDict, total=False):
    """What an inbox is limited to, before validation."""

    unread: Annotated[bool, Default(True), About("Left out: true. False: also what you have read.")]
    priority: Annotated[Word, About("Of exactly this priority.", {"enum": Priority.labels})] | None
    type: Annotated[Word, About("Of this type.", TYPES)] | None  # The contract's name.
    state: InState | None
    by: ByAgentUndeclared | None
    since: Annotated[str, About(f"Sent since. {SINCE}")] | None
    limit: Limit
    cursor: Cursor | None


class InboxArguments(InboxFilters, total=False):
    wait_seconds: WaitSeconds


def list_inbox(
    caller: Caller, *, has_mailbox: bool = True, ordering: Ordering = None, **filters: Unpack[InboxFilters]
) -> Listing:
    """The messages to the caller's agent with full texts, urgent first, then newest.

    The column `ack` is true while an acknowledgement is awaited. `by`: the sender. `since` compares the time.
    An agent without a mailbox sees the messages to everyone that opening it delivers: see open_mailbox.
    """
    limit, cursor, since = clean_limit(filters.get("limit", 20)), filters.get("cursor"), filters.get("since")
    query = InboxQuery(
        caller.project_id,
        caller.agent.casefold(),
        clock.now(),
        unread=filters.get("unread", True),
        type=clean_choice(value, MessageType, "type") if (value := filters.get("type")) else None,
        state=clean_state(value) if (value := filters.get("state")) else None,
        priority=clean_choice(value, Priority, "priority") if (value := filters.get("priority")) else None,
        sender_id=author_id(caller.project_id, by) if (by := filters.get("by")) else None,
        since=waiting.at_first_run(lambda: moment_of(caller.project_id, clean_moment(since, "since"))),
        has_mailbox=has_mailbox,
        order=(order := inbox_order(ordering)),
    )
    after = order.way.read(cursor, int, datetime, int) if cursor else None
    found = read_inbox(query, limit + 1, (after[0], after[1], after[2]) if after else None)
    rows = found[:limit]

    def cursor_after(count: int) -> str:
        last = rows[count - 1][0]
        return order.way.cursor(last.priority, last.created_at, last.id)

    return Listing(
        COLUMNS,
        [_row(message, to_ack) for message, to_ack in rows],
        next=cursor_after(limit) if len(found) > limit else None,
        cursor_after=cursor_after,
    )


def wait_for_inbox(
    caller: Caller,
    *,
    has_mailbox: bool,
    wait_seconds: int = 0,
    ordering: Ordering = None,
    **filters: Unpack[InboxFilters],
) -> Listing:
    """Like `list_inbox`, but an empty inbox waits up to `wait_seconds` (60 at most) for a message."""
    seconds = waiting.clean_seconds(wait_seconds)
    after = latest_cursor(caller.project_id).event_id if seconds else 0
    listing = list_inbox(caller, has_mailbox=has_mailbox, ordering=ordering, **filters)
    if seconds and not listing.rows:
        waiting.wait_for_news(caller, seconds, after=after, nouns=frozenset({"message"}))
    return listing


def count_news(caller: Caller, events: Selected | None) -> int:
    """How many messages are new to the agent by these events; without events what it has not read, to 1,000.

    New are those that it was sent and has not read, and its own that were acknowledged, claimed, overdue or
    escalated.
    """
    if events is None:
        return count_unread(caller.project_id, caller.agent.casefold(), COUNTED_TO)
    return count_new_messages(caller.project_id, caller.agent.casefold(), events)


def count_urgent(caller: Caller) -> int:
    """How many unread messages of priority high or critical the agent owes, counted to 1,000.

    Those to its name, and those to everyone that were sent within a week after it was seen.
    """
    return count_urgent_messages(caller.project_id, caller.agent.casefold(), COUNTED_TO)


def unread_of(project_id: int, folded: Sequence[str]) -> dict[str, int]:
    """Unread counts of many agents, by case-folded name."""
    return count_unread_of(project_id, folded, COUNTED_TO)


def _row(message: MessageRow, to_ack: bool) -> list[Any]:
    return [
        *(message.id, message.sender, message.named_to, message.type_label, message.priority_label),
        *(message.text, message.payload, list(message.choices) or None, message.choice or None),
        *(message.thread, to_ack or None, format_time(message.created_at)),
    ]


_COUNTED = """
    SELECT min(d.name), d.folded, d.priority, count(*) FROM messaging_delivery d
    JOIN messaging_message m ON m.id = d.message_id
    WHERE d.project_id = %s AND d.read_at IS NULL AND NOT m.to_everyone AND d.folded >= %s
    GROUP BY d.folded, d.priority HAVING d.folded > %s OR d.priority < %s
    ORDER BY d.folded, d.priority DESC LIMIT %s"""


@register_view(
    "unread_messages_by_priority",
    "What each agent has not read of what was addressed to it.",
    has_authors=False,
)
def unread_messages_by_priority(project_id: int, *, limit: int = 20, cursor: str | None = None) -> Listing:
    """Rows agent, priority, count; by agent, urgent first. Messages to everyone are not counted."""
    limit = clean_limit(limit)
    agent, priority = read_cursor(cursor, str, int) if cursor else ("", max(Priority) + 1)
    found = sql.rows(_COUNTED, [project_id, agent, agent, priority, limit + 1])
    return Listing(
        columns=("agent", "priority", "count"),
        rows=[[name, str(Priority(urgency).label), int(count)] for name, _, urgency, count in found[:limit]],
        next=make_cursor(*found[limit - 1][1:3]) if len(found) > limit else None,
        cursor_after=lambda count: make_cursor(*found[count - 1][1:3]),
    )
