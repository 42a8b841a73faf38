"""Forgets old sessions and accesses. Tasks of the periodic cleanup."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from ctxhub.core.events.services.cleanup import REMOVED_AT_ONCE, in_words
from ctxhub.core.events.services.counters import add_to_counters, counter_key
from ctxhub.core.events.services.events import Change, record
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.search.services.index import forget
from sessions.sittings.models.session import AgentSession
from sessions.sittings.sql.expiry import Expired, delete_accesses, find_expired
from sessions.sittings.sql.sessions import leave_snapshots

# Sessions that were opened without a name and never saved.
IMPLICIT_FOR = timedelta(days=1)
SESSIONS_AT_ONCE = 500


def clean_sessions(project_id: int, now: datetime, days: int) -> dict[str, int]:
    """Delete sessions unchanged for so many days (0: none), and implicit ones after a day.

    A saved session that another one continues is kept. Deletes at most 500 rows, but at least one session;
    returns the number of sessions. Called inside the project's transaction.
    """
    expired = _batch(
        find_expired(
            project_id,
            implicit_before=now - IMPLICIT_FOR,
            saved_before=now - timedelta(days=days) if days else None,
            at_most=SESSIONS_AT_ONCE,
        )
    )
    if not expired:
        return {}
    ids = [session.id for session in expired]
    forget(project_id, "session", ids)
    leave_snapshots(project_id, ids)
    delete_rows(AgentSession, ids)
    counted = sum(not session.is_implicit for session in expired)
    add_to_counters(project_id, Counter({counter_key("session"): -counted}))
    _record(project_id, {"sessions": counted}, now)
    return {"sessions": len(ids)}


def clean_accesses(project_id: int, now: datetime, days: int) -> dict[str, int]:
    """Delete accesses to files older than so many days (0: none), at most 500."""
    count = delete_accesses(project_id, now - timedelta(days=days), REMOVED_AT_ONCE) if days else 0
    _record(project_id, {"accesses": count}, now)
    return {"accesses": count} if count else {}


def _batch(expired: Sequence[Expired]) -> list[Expired]:
    """The first sessions with at most 500 rows in total, but at least one."""
    chosen: list[Expired] = []
    total = 0
    for session in expired:
        total += session.rows
        if chosen and total > REMOVED_AT_ONCE:
            break
        chosen.append(session)
    return chosen


def _record(project_id: int, removed: dict[str, int], now: datetime) -> None:
    """Record how many were removed. Implicit sessions leave no event."""
    if any(removed.values()):
        change = Change("hub", "cleaned", "hub:cleanup", {**removed, "note": in_words(removed)})
        record(project_id=project_id, agent_id=None, changes=[change], at=now)
