"""SQL of message retention: old messages and overdue acknowledgements."""

from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.deletes import delete_rows
from messaging.models import Message, RequestState

_OWED = "EXISTS (SELECT 1 FROM messaging_delivery d WHERE d.message_id = m.id AND d.owed AND {} IS NULL)"
_UNREAD = _OWED.format("d.read_at")
_UNACKED = _OWED.format("d.acked_at")
_UNREAD_AND_UNACKED = _OWED.format("d.acked_at IS NULL AND d.read_at")


def count_old(project_id: int, before: datetime, unread_until: datetime | None) -> int:
    condition, values = _old(project_id, before, unread_until)
    [(count,)] = sql.rows(f"SELECT count(*) FROM messaging_message m WHERE {condition}", values)
    return int(count)


def remove_old(project_id: int, before: datetime, unread_until: datetime | None, at_most: int) -> list[int]:
    """Remove the oldest old messages. Returns their ids."""
    condition, values = _old(project_id, before, unread_until)
    statement = f"SELECT m.id FROM messaging_message m WHERE {condition} ORDER BY m.created_at, m.id LIMIT %s"
    ids = [row_id for (row_id,) in sql.rows(statement, [*values, at_most])]
    if ids:
        delete_rows(Message, ids)
    return ids


def _old(project_id: int, before: datetime, unread_until: datetime | None) -> tuple[str, list[Any]]:
    """Condition for messages older than `before`.

    `unread_until` excludes those that await an acknowledgement, and those newer than it that a named
    recipient has not read.
    """
    condition = "m.project_id = %s AND m.created_at < %s"
    values: list[Any] = [project_id, sql.stored_time(before)]
    if unread_until:
        condition += f" AND NOT (m.ack AND {_UNACKED})"
        condition += f" AND NOT (NOT m.to_everyone AND m.created_at >= %s AND {_UNREAD})"
        values.append(sql.stored_time(unread_until))
    return condition, values


def overdue(project_id: int, now: datetime, at_most: int) -> list[tuple[int, str, int, bool]]:
    """Messages past their acknowledgement deadline: id, sender, priority, whether anybody still owes it."""
    statement = f"""
        SELECT m.id, s.name, m.priority, {_UNACKED} FROM messaging_message m
        JOIN core_agent s ON s.id = m.sender_id
        WHERE m.project_id = %s AND m.ack_due_at IS NOT NULL AND NOT m.ack_overdue AND m.ack_due_at <= %s
        ORDER BY m.ack_due_at LIMIT %s"""
    found = sql.rows(statement, [project_id, sql.stored_time(now), at_most])
    return [(row_id, sender, priority, bool(is_waiting)) for row_id, sender, priority, is_waiting in found]


def to_escalate(
    project_id: int, sent_before: datetime, now: datetime, at_most: int
) -> list[tuple[int, str, int, bool]]:
    """What waits for too long and was not escalated: id, sender, priority, whether it is a request that
    nobody holds. Else it is to be acknowledged, and a recipient has not read it.
    """
    unclaimed = (
        f"(m.state = {RequestState.OPEN.value}"
        f" OR m.state = {RequestState.CLAIMED.value} AND m.claimed_until <= %s)"
    )
    statement = f"""
        SELECT m.id, s.name, m.priority, {unclaimed} FROM messaging_message m
        JOIN core_agent s ON s.id = m.sender_id
        WHERE m.project_id = %s AND NOT m.escalated AND (m.ack OR m.state IN (1, 2)) AND m.created_at <= %s
        AND ({unclaimed} OR m.ack AND {_UNREAD_AND_UNACKED})
        ORDER BY m.created_at, m.id LIMIT %s"""
    moment = sql.stored_time(now)
    values = [moment, project_id, sql.stored_time(sent_before), moment, at_most]
    found = sql.rows(statement, values)
    return [(row_id, sender, priority, bool(is_request)) for row_id, sender, priority, is_request in found]


def mark_escalated(message_ids: list[int]) -> None:
    among, values = sql.among("id", message_ids)
    sql.execute(f"UPDATE messaging_message SET escalated = true WHERE {among}", values)


def unread_by(message_ids: list[int]) -> dict[int, list[str]]:
    """Names of those that owe an acknowledgement and have not read the message, by message id."""
    return _owing(message_ids, "acked_at IS NULL AND read_at IS NULL")


def waiting_for(message_ids: list[int]) -> dict[int, list[str]]:
    """Names of those that owe an acknowledgement, by message id."""
    return _owing(message_ids, "acked_at IS NULL")


def _owing(message_ids: list[int], condition: str) -> dict[int, list[str]]:
    among, values = sql.among("message_id", message_ids)
    statement = f"""
        SELECT message_id, name FROM messaging_delivery WHERE owed AND {condition} AND {among}
        ORDER BY message_id, folded"""
    names: dict[int, list[str]] = {}
    for message_id, name in sql.rows(statement, values):
        names.setdefault(message_id, []).append(name)
    return names


def mark_overdue(message_ids: list[int]) -> None:
    among, values = sql.among("id", message_ids)
    sql.execute(f"UPDATE messaging_message SET ack_overdue = true WHERE {among}", values)


def mark_settled(message_ids: list[int]) -> None:
    """Clear the deadline of messages whose acknowledgement nobody owes."""
    among, values = sql.among("id", message_ids)
    sql.execute(f"UPDATE messaging_message SET ack_due_at = NULL WHERE {among}", values)
