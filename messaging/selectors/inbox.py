"""Reads an agent's inbox and counts its unread messages."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.accounts.selectors.agents import author_id
from ctxhub.core.events import waiting
from ctxhub.core.events.selectors.events import latest_cursor, moment_of
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import clean_choice, clean_limit, clean_moment
from ctxhub.core.kit.listing import COUNTED_TO, Listing, make_cursor, read_cursor
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.sql import Selected
from messaging.models import MessageType
from messaging.rows import MessageRow
from messaging.selectors.request_states import clean_state
from messaging.sql import inbox as sql
from messaging.sql.inbox import InboxQuery, Position

COLUMNS = ("id", "from", "to", "type", "priority", "text", "payload", "thread", "ack", "at")


def find_inbox(
    project_id: int, folded: str, now: datetime, *, unread: bool, limit: int, after: Position | None = None
) -> list[tuple[MessageRow, bool]]:
    """A page of the messages to an agent, each with whether it still awaits the agent's acknowledgement."""
    return sql.read_inbox(InboxQuery(project_id, folded, now, unread=unread), limit, after)


def list_inbox(
    caller: Caller,
    *,
    unread: bool = True,
    priority: str | int | None = None,
    type: str | int | None = None,  # The contract's name.
    state: str | int | None = None,
    by: str | None = None,
    since: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
    has_mailbox: bool = True,
) -> Listing:
    """The messages to the caller's agent with full texts, urgent first, then newest.

    The column `ack` is true while an acknowledgement is awaited. `by`: the sender. `since` compares the time.
    An agent without a mailbox sees the messages to everyone that opening it delivers: see open_mailbox.
    """
    limit = clean_limit(limit)
    query = InboxQuery(
        caller.project_id,
        caller.agent.casefold(),
        clock.now(),
        unread=unread,
        type=clean_choice(type, MessageType, "type") if type else None,
        state=clean_state(state) if state else None,
        priority=clean_choice(priority, Priority, "priority") if priority else None,
        sender_id=author_id(caller.project_id, by) if by else None,
        since=waiting.at_first_run(lambda: moment_of(caller.project_id, clean_moment(since, "since"))),
        has_mailbox=has_mailbox,
    )
    after = read_cursor(cursor, int, datetime, int) if cursor else None
    found = sql.read_inbox(query, limit + 1, (after[0], after[1], after[2]) if after else None)
    rows = found[:limit]

    def cursor_after(count: int) -> str:
        last = rows[count - 1][0]
        return make_cursor(last.priority, last.created_at, last.id)

    return Listing(
        COLUMNS,
        [_row(message, to_ack) for message, to_ack in rows],
        next=cursor_after(limit) if len(found) > limit else None,
        cursor_after=cursor_after,
    )


def wait_for_inbox(caller: Caller, *, wait_seconds: int = 0, **query: Any) -> Listing:
    """Like `list_inbox`, but an empty inbox waits up to `wait_seconds` (60 at most) for a message."""
    seconds = waiting.clean_seconds(wait_seconds)
    after = latest_cursor(caller.project_id).event_id if seconds else 0
    listing = list_inbox(caller, **query)
    if seconds and not listing.rows:
        waiting.wait_for_news(caller, seconds, after=after, nouns=frozenset({"message"}))
    return listing


def count_news(caller: Caller, events: Selected | None) -> int:
    """How many messages are new to the agent by these events; without events what it has not read, to 1,000.

    New are those that it was sent and has not read, and its own that were acknowledged, claimed, overdue or
    escalated.
    """
    if events is None:
        return sql.count_unread(caller.project_id, caller.agent.casefold(), COUNTED_TO)
    return sql.count_news(caller.project_id, caller.agent.casefold(), events)


def count_urgent(caller: Caller) -> int:
    """How many unread messages of priority high or critical the agent owes, counted to 1,000.

    Those to its name, and those to everyone that were sent within a week after it was seen.
    """
    return sql.count_urgent(caller.project_id, caller.agent.casefold(), COUNTED_TO)


def unread_of(project_id: int, folded: Sequence[str]) -> dict[str, int]:
    """Unread counts of many agents, by case-folded name."""
    return sql.count_unread_of(project_id, folded, COUNTED_TO)


def _row(message: MessageRow, to_ack: bool) -> list[Any]:
    return [
        *(message.id, message.sender, message.to, message.type_label, message.priority_label),
        *(message.text, message.payload, message.thread, to_ack or None, format_time(message.created_at)),
    ]
