"""Retention of messages: removes old ones, and writes one event for each overdue acknowledgement."""

from collections import Counter
from datetime import datetime, timedelta

from ctxhub.core.accounts.services.visitors import named_in
from ctxhub.core.events.services.cleanup import RetentionRule, cleanup_tasks, retention_rules
from ctxhub.core.events.services.counters import add_to_counters, counter_key
from ctxhub.core.kit import clock
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.search.services.index import forget
from messaging.history import record_changes
from messaging.sql.cleanup import count_old, mark_overdue, mark_settled, overdue, remove_old, waiting_for

UNREAD_LAST = timedelta(hours=168)
OVERDUE_BATCH = 200
NAMES_IN_NOTE = 10


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
        if settled := [message_id for message_id, _, is_waiting in due if not is_waiting]:
            mark_settled(settled)
        late = {message_id: sender for message_id, sender, is_waiting in due if is_waiting}
        if not late:
            return
        mark_overdue(list(late))
        waiting = waiting_for(list(late))
        changes = [
            (message_id, "overdue", {"to": [sender], "note": _missing(waiting[message_id])})
            for message_id, sender in late.items()
        ]
        record_changes(project_id=project_id, agent_id=None, changes=changes, at=now)


def _missing(names: list[str]) -> str:
    more = f" and {len(names) - NAMES_IN_NOTE} more" if len(names) > NAMES_IN_NOTE else ""
    return f"not acknowledged by {', '.join(names[:NAMES_IN_NOTE])}{more}"


def _unread_until() -> datetime:
    return clock.now() - UNREAD_LAST


retention_rules.append(
    RetentionRule("messages", lambda config: config.messages_last, count_old_messages, remove_old_messages)
)
cleanup_tasks.append(lambda project_id, now, _: tell_overdue(project_id, now))
# An agent that a delivery names is not removed: the message is for it.
named_in.append(("messaging_delivery", "folded"))
