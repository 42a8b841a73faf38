"""Finds where an agent stopped: the session that it last saved or restored."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from sessions.sittings.sql.sessions import StoredItem, read_items

# Of the content of an item.
ITEM_CHARACTERS = 500


@frozen
class LastSession:
    """A session and its items, the most important first."""

    id: int
    agent: str
    summary: str
    updated_at: datetime
    items: Sequence[StoredItem]


def last_worked_in(caller: Caller, most_items: int) -> LastSession | None:
    """The session that the caller's agent last saved, or restored; None if it has none."""
    found = sql.rows(
        """
        SELECT s.id, a.name, s.summary, s.updated_at
        FROM core_agent a CROSS JOIN agent_sessions_agentsession s
        WHERE a.project_id = %s AND a.folded = %s
        AND s.project_id = a.project_id AND s.agent_id = a.id AND s.current_at IS NOT NULL
        AND (s.saved_at IS NOT NULL OR s.parent_id IS NOT NULL)
        ORDER BY s.current_at DESC, s.id DESC LIMIT 1""",
        [caller.project_id, caller.agent.casefold()],
    )
    if not found:
        return None
    [(session_id, agent, summary, updated_at)] = found
    items = read_items([session_id], ITEM_CHARACTERS).get(session_id, [])
    ordered = sorted(items, key=lambda item: -item.importance)[:most_items]
    return LastSession(session_id, agent, summary, sql.read_time(updated_at), ordered)
