"""What time does to messages: old ones go, and acknowledgements that are late are told of, once."""

from collections import Counter
from datetime import datetime, timedelta

from ctxhub.core.accounts.services.visitors import named_in
from ctxhub.core.events.services.counters import add_to_counters, counter_key
from ctxhub.core.events.services.retention import RetentionRule, cleanup_tasks, retention_rules
from ctxhub.core.kit import clock
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.search.services.index import forget
from messaging.history import record_changes
from messaging.sql.retention import count_old, mark_overdue, mark_settled, overdue, remove_old, waiting_for

UNREAD_LAST = timedelta(hours=168)
TOLD_AT_ONCE = 200
NAMES_TOLD = 10


def count_old_messages(project_id: int, before: datetime, *, sparing: bool) -> int:
    return count_old(project_id, before, _unread_until() if sparing else None)


def remove_old_messages(project_id: int, before: datetime, *, sparing: bool, at_most: int) -> int:
    """Remove messages from before a moment, oldest first; how many went.

    `sparing` leaves what has still to be acknowledged, and for up to 168 hours what a named recipient has not
    read. Answers to what goes stay in their thread.
    """
    removed = remove_old(project_id, before, _unread_until() if sparing else None, at_most)
    add_to_counters(project_id, Counter({counter_key("message"): -len(removed)}))
    forget(project_id, "message", removed)
    return len(removed)


def tell_overdue(project_id: int, now: datetime) -> None:
    """One event for each message that somebody should have acknowledged by now."""
    with write_transaction(project_id):
        due = overdue(project_id, now, TOLD_AT_ONCE)
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
    more = f" and {len(names) - NAMES_TOLD} more" if len(names) > NAMES_TOLD else ""
    return f"not acknowledged by {', '.join(names[:NAMES_TOLD])}{more}"


def _unread_until() -> datetime:
    return clock.now() - UNREAD_LAST


retention_rules.append(
    RetentionRule("messages", lambda config: config.messages_last, count_old_messages, remove_old_messages)
)
cleanup_tasks.append(tell_overdue)
# Whoever is addressed stays: the message is for them.
named_in.append(("messaging_delivery", "folded"))
