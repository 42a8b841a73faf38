"""Inserts messages and updates request states."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen


@frozen
class NewMessage:
    sender_id: int
    type: int
    state: int
    priority: int
    text: str
    payload: Any
    thread_id: int | None
    reply_to_id: int | None
    to_everyone: bool
    ack: bool
    ack_due_at: datetime | None
    at: datetime


_WRITTEN = (
    *("project_id", "sender_id", "type", "state", "priority", "text", "payload", "thread_id", "reply_to_id"),
    *("to_everyone", "ack", "ack_due_at", "ack_overdue", "result_refs", "created_at"),
)


def insert_messages(project_id: int, messages: Sequence[NewMessage]) -> list[int]:
    """Insert messages. Returns their ids in the same order: ids are assigned in the order of the rows."""
    records = [
        (
            *(project_id, m.sender_id, m.type, m.state, m.priority, m.text),
            *(None if m.payload is None else sql.stored_json(m.payload), m.thread_id, m.reply_to_id),
            *(m.to_everyone, m.ack, m.ack_due_at and sql.stored_time(m.ack_due_at), False),
            *(sql.stored_json([]), sql.stored_time(m.at)),
        )
        for m in messages
    ]
    return sorted(row_id for (row_id,) in sql.insert("messaging_message", _WRITTEN, records, "RETURNING id"))


def set_state(message_id: int, changes: Mapping[str, Any]) -> None:
    """Update columns of a request, and the copies in its deliveries."""
    assigned = ", ".join(f"{column} = %s" for column in changes)
    sql.execute(f"UPDATE messaging_message SET {assigned} WHERE id = %s", [*changes.values(), message_id])
    copy_to_deliveries(message_id)


def copy_to_deliveries(message_id: int) -> None:
    """Copy the message's current type, state, priority and time to its deliveries."""
    sql.execute(
        """UPDATE messaging_delivery SET (type, state, priority, at) = (
            SELECT m.type, m.state, m.priority, m.created_at FROM messaging_message m WHERE m.id = %s)
        WHERE message_id = %s""",
        [message_id, message_id],
    )
