"""`MessageRow`: a message with the names of related rows, and the queries that read it."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import datetime
from functools import cache
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.holder import Holder
from ctxhub.core.kit.priority import Priority
from messaging.models import MessageType, RequestState

TYPE_LABELS = {int(value): str(label) for value, label in MessageType.choices}
PRIORITY_LABELS = {int(value): str(label) for value, label in Priority.choices}


@frozen
class MessageContent:
    """What a message says. `to`: recipient names, None for everyone."""

    id: int
    sender: str
    sender_id: int
    to: Sequence[str] | None
    text: str
    payload: Any
    at: datetime


@frozen
class MessageRow(MessageContent):
    """A stored message with names. `by` holds or has done a request, in `session`."""

    type: int
    priority: int
    thread: int
    reply_to: int | None
    ack: bool
    ack_due_at: datetime | None
    ack_overdue: bool
    state: int
    by: str | None
    session: str
    made_up: bool
    claimed_until: datetime | None
    result_refs: Sequence[str]

    @property
    def type_label(self) -> str:
        return TYPE_LABELS[self.type]

    @property
    def priority_label(self) -> str:
        return PRIORITY_LABELS[self.priority]

    @property
    def holder(self) -> Holder:
        return Holder((self.by or "").casefold(), self.session, self.made_up)

    @property
    def is_request(self) -> bool:
        return self.type == MessageType.REQUEST

    def is_held(self, now: datetime) -> bool:
        """Whether the request is claimed and the claim has not expired."""
        return (
            self.state == RequestState.CLAIMED and self.claimed_until is not None and self.claimed_until > now
        )

    def state_label(self, now: datetime) -> str | None:
        """The state of a request, None for other types; an expired claim counts as open."""
        if not self.is_request:
            return None
        is_expired = self.state == RequestState.CLAIMED and not self.is_held(now)
        return str(RequestState.OPEN.label if is_expired else RequestState(self.state).label)


_CONVERTED: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("ack_due_at", "claimed_until", "at"), sql.read_time),
    **dict.fromkeys(("ack", "ack_overdue", "made_up"), bool),
    **dict.fromkeys(("payload", "result_refs"), sql.read_json),
    "to": lambda names: sorted(sql.read_json(names), key=str.casefold),
}
_READERS = [
    (position, _CONVERTED[field.name])
    for position, field in enumerate(fields(MessageRow))
    if field.name in _CONVERTED
]
JOINED = "JOIN core_agent s ON s.id = m.sender_id LEFT JOIN core_agent h ON h.id = m.claimed_by_id"


@cache
def selected() -> str:
    """The SELECT list of a MessageRow, from `messaging_message m` and the JOINED tables."""
    names = f"(SELECT {sql.json_list('r.name')} FROM messaging_delivery r WHERE r.message_id = m.id)"
    to = f"CASE WHEN m.to_everyone THEN NULL ELSE coalesce({names}, '[]') END"
    return (
        f"m.id, s.name, m.sender_id, {to}, m.text, m.payload, m.created_at, m.type, m.priority, "
        "coalesce(m.thread_id, m.id), m.reply_to_id, m.ack, m.ack_due_at, m.ack_overdue, m.state, "
        "h.name, m.claimed_session, m.claimed_made_up, m.claimed_until, m.result_refs"
    )


def as_row(found: Sequence[Any]) -> MessageRow:
    values = [*found]
    for position, read in _READERS:
        if values[position] is not None:
            values[position] = read(values[position])
    return MessageRow(*values)


def read_messages(project_id: int, ids: Sequence[int]) -> dict[int, MessageRow]:
    return messages_of(project_id, ids).now() if ids else {}


def messages_of(project_id: int, ids: Sequence[int]) -> sql.Reading[dict[int, MessageRow]]:
    condition, values = sql.by_ids("m", project_id, ids)
    statement = f"SELECT {selected()} FROM messaging_message m {JOINED} WHERE {condition}"
    return sql.Reading(
        statement, values, len(fields(MessageRow)), lambda rows: {row.id: row for row in map(as_row, rows)}
    )


def read_thread(project_id: int, root_id: int, after: int, limit: int) -> list[MessageRow]:
    """The messages of a thread with ids greater than `after`, oldest first."""
    statement = f"""
        WITH page AS MATERIALIZED (
            SELECT id FROM messaging_message WHERE project_id = %s AND id = %s AND id > %s
            UNION ALL SELECT id FROM (
                SELECT id FROM messaging_message WHERE project_id = %s AND thread_id = %s AND id > %s
                ORDER BY id LIMIT %s) later)
        SELECT {selected()} FROM page CROSS JOIN messaging_message m {JOINED} WHERE m.id = page.id
        ORDER BY m.id LIMIT %s"""
    position = [project_id, root_id, after]
    return [as_row(found) for found in sql.rows(statement, [*position, *position, limit, limit])]
