"""Retention of messages: removes old ones, and writes one event for each that waits for too long."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from ctxhub.core.accounts.models.config import Config
from ctxhub.core.accounts.services.visitors import named_in
from ctxhub.core.events.services.cleanup import RetentionRule, cleanup_tasks, retention_rules
from ctxhub.core.events.services.counters import add_to_counters, counter_key
from ctxhub.core.kit import clock
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.search.services.index import forget
from messaging.history import record_changes
from messaging.sql.cleanup import (
    count_old,
    mark_escalated,
    mark_overdue,
    mark_settled,
    overdue,
    remove_old,
    to_escalate,
    unread_by,
    waiting_for,
)

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


retention_rules.append(
    RetentionRule("messages", lambda config: config.messages_last, count_old_messages, remove_old_messages)
)
cleanup_tasks.append(lambda project_id, now, _: tell_overdue(project_id, now))
cleanup_tasks.append(tell_escalated)
# An agent that a delivery names is not removed: the message is for it.
named_in.append(("messaging_delivery", "folded"))
