"""Deletes old sessions and accesses, in the periodic cleanup."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from ctxhub.core.events.cleanup import REMOVED_AT_ONCE, in_words
from ctxhub.core.events.counters import add_to_counters, counter_key
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import sql
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.search.index import forget
from sessions.sittings.contents import leave_snapshots
from sessions.sittings.models import AgentSession


class Expired(NamedTuple):
    """A session to forget. `rows`: how many are deleted with it, itself included."""

    id: int
    is_implicit: bool
    rows: int


def find_expired(
    project_id: int, *, implicit_before: datetime, saved_before: datetime | None, at_most: int
) -> list[Expired]:
    """Sessions last changed before a time, the oldest first.

    A saved session that another one continues is kept. `saved_before` None: only implicit ones.
    """
    before = sql.stored_time(saved_before) if saved_before else None
    either = (
        "s.is_implicit AND s.saved_at IS NULL AND s.updated_at < %s",
        "s.updated_at < %s AND (s.saved_at IS NULL OR NOT EXISTS ("
        "SELECT 1 FROM agent_sessions_agentsession c WHERE c.parent_id = s.id))",
    )
    latest = max(implicit_before, saved_before or implicit_before)
    found = sql.rows(
        f"""
        SELECT s.id, s.is_implicit, 1
            + (SELECT count(*) FROM agent_sessions_sessionresource r WHERE r.session_id = s.id)
            + (SELECT count(*) FROM agent_sessions_access a WHERE a.session_id = s.id)
            + (SELECT count(*) FROM agent_sessions_conversation c WHERE c.session_id = s.id)
        FROM agent_sessions_agentsession s WHERE s.project_id = %s AND s.updated_at < %s
        AND ({f"({either[0]}) OR ({either[1]})" if before else either[0]})
        ORDER BY s.updated_at, s.id LIMIT %s""",
        [
            *(project_id, sql.stored_time(latest), sql.stored_time(implicit_before)),
            *([before] if before else []),
            at_most,
        ],
    )
    return [Expired(row_id, bool(is_implicit), int(rows)) for row_id, is_implicit, rows in found]


def delete_accesses(project_id: int, before: datetime, at_most: int) -> int:
    """Delete the oldest accesses from before a time; returns how many."""
    oldest = """
        SELECT id FROM agent_sessions_access WHERE project_id = %s AND created_at < %s
        ORDER BY created_at, id LIMIT %s"""
    found = sql.rows(
        f"DELETE FROM agent_sessions_access WHERE {sql.among_found('id', oldest)} RETURNING id",
        [project_id, sql.stored_time(before), at_most],
    )
    return len(found)


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
