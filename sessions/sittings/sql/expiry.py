"""SQL of retention: sessions to forget, and old accesses."""

from datetime import datetime
from typing import NamedTuple

from ctxhub.core.kit import sql


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
