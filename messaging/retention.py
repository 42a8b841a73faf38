"""Retention of messages: removes old ones, and writes one event for each that waits for too long."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from ctxhub.core.accounts.models import Config
from ctxhub.core.events.counters import add_to_counters, counter_key
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.search.index import forget
from messaging.messages.history import record_changes
from messaging.messages.models import URGENT
from messaging.messages.needs import REMINDS_OF, find_reminders, overdue_of
from messaging.messages.services import send_message
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


NAMED = 20


def remind_agent(*, caller: Caller, agent: str) -> bool:
    """Ask an agent for its overdue acknowledgements, in a reply to the most urgent message.

    It is urgent, so that every answer to the agent counts it. Returns False, with nothing sent, if it was
    reminded of that message within the last hour. Raises NotFound if the agent owes none.
    """
    with write_transaction(caller.project_id):
        owed = overdue_of(caller.project_id, agent.casefold(), NAMED)
        if not owed:
            raise NotFound(f"{agent!r} owes no overdue acknowledgement.")
        first, priority = owed[0]
        if find_reminders([caller.project_id], [first]).get((first, agent.casefold())):
            return False
        ids = [message_id for message_id, _ in owed]
        refs = ", ".join(f"message:{message_id}" for message_id in ids)
        send_message(
            caller=caller,
            text=f"Your acknowledgement is overdue: {refs}. {operation('message ack')} with ids {ids}.",
            to=[agent],
            reply_to=first,
            priority=str(max(priority, Priority(URGENT).value)),
            payload={REMINDS_OF: ids},
        )
        return True


UNREAD_LAST = timedelta(hours=168)
OVERDUE_BATCH = 200
NAMES_IN_NOTE = 10
UNCLAIMED = "nobody has claimed it"


def count_old_messages(project_id: int, before: datetime, *, sparing: bool) -> int:
    return count_old(project_id, before, _unread_until() if sparing else None)


def remove_old_messages(project_id: int, before: datetime, *, sparing: bool, at_most: int) -> int:
    """Remove messages older than `before`, oldest first. Returns how many were removed.

    `sparing` keeps messages that await an acknowledgement, and for up to 168 hours those that a named
    recipient has not read. Replies to removed messages stay in their thread.
    """
    removed = remove_old(project_id, before, _unread_until() if sparing else None, at_most)
    add_to_counters(project_id, Counter({counter_key("message"): -len(removed)}))
    forget(project_id, "message", removed)
    return len(removed)


def tell_overdue(project_id: int, now: datetime) -> None:
    """Write one event for each message with an overdue acknowledgement."""
    with write_transaction(project_id):
        due = overdue(project_id, now, OVERDUE_BATCH)
        if settled := [message_id for message_id, *_, is_waiting in due if not is_waiting]:
            mark_settled(settled)
        late = {each[0]: _told(*each[1:3]) for each in due if each[3]}
        if not late:
            return
        mark_overdue(list(late))
        waiting = waiting_for(list(late))
        changes = [
            (
                message_id,
                "overdue",
                {**told, "note": f"not acknowledged by {_some(waiting[message_id])}"},
            )
            for message_id, told in late.items()
        ]
        record_changes(project_id=project_id, agent_id=None, changes=changes, at=now)


def tell_escalated(project_id: int, now: datetime, config: Config) -> None:
    """Write one event for each message that waits for longer than the project allows; each once.

    It is to be acknowledged and was not read, or it is a request that nobody holds.
    """
    if not config.escalate_minutes:
        return
    with write_transaction(project_id):
        sent_before = now - timedelta(minutes=config.escalate_minutes)
        due = to_escalate(project_id, sent_before, now, OVERDUE_BATCH)
        if not due:
            return
        ids = [message_id for message_id, *_ in due]
        mark_escalated(ids)
        unread = unread_by(ids)
        changes = [
            (
                message_id,
                "escalated",
                {
                    **_told(sender, priority),
                    "note": UNCLAIMED if is_request else f"not read by {_some(unread[message_id])}",
                },
            )
            for message_id, sender, priority, is_request in due
        ]
        record_changes(project_id=project_id, agent_id=None, changes=changes, at=now)


def _told(sender: str, priority: int) -> dict[str, Any]:
    return {"to": [sender], "priority": Priority(priority).label}


def _some(names: list[str]) -> str:
    more = f" and {len(names) - NAMES_IN_NOTE} more" if len(names) > NAMES_IN_NOTE else ""
    return f"{', '.join(names[:NAMES_IN_NOTE])}{more}"


def _unread_until() -> datetime:
    return clock.now() - UNREAD_LAST
