"""Finds the sessions that were saved last, and whether a continued one is unused."""

from typing import NamedTuple

from ctxhub.core.kit import sql


def find_last_saved(project_id: int, agent: str, workspace_id: str) -> int | None:
    """The session that an agent saved last in a workspace."""
    found = sql.rows(
        """
        SELECT s.id FROM agent_sessions_agentsession s
        WHERE s.project_id = %s AND s.workspace_id = %s AND s.saved_at IS NOT NULL
        AND s.agent_id = (SELECT id FROM core_agent WHERE project_id = %s AND folded = %s)
        ORDER BY s.saved_at DESC, s.id DESC LIMIT 1""",
        [project_id, workspace_id, project_id, agent.casefold()],
    )
    return found[0][0] if found else None


def is_unused_child(project_id: int, session_id: int, parent_id: int, agent_id: int) -> bool:
    """Whether a restore of the parent opened the session, and nothing was written in it since."""
    found = sql.rows(
        """
        SELECT 1 FROM agent_sessions_agentsession s
        WHERE s.id = %s AND s.parent_id = %s AND s.agent_id = %s AND s.saved_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM agent_sessions_access a WHERE a.session_id = s.id)
        AND NOT EXISTS (
            SELECT 1 FROM agent_sessions_sessionresource r WHERE r.session_id = s.id AND r.mode IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM memory_snapshot n WHERE n.project_id = %s AND n.session_id = s.id)""",
        [session_id, parent_id, agent_id, project_id],
    )
    return bool(found)


class SavedSession(NamedTuple):
    """A saved session, of whom and where."""

    id: int
    agent: str
    workspace_id: str


def find_newest_saved(project_id: int, agent: str) -> SavedSession | None:
    """The session saved last in any workspace: the agent's own, else anybody's."""
    found = sql.rows(
        """
        SELECT s.id, a.name, s.workspace_id FROM agent_sessions_agentsession s
        JOIN core_agent a ON a.id = s.agent_id
        WHERE s.project_id = %s AND s.saved_at IS NOT NULL
        ORDER BY CASE WHEN a.folded = %s THEN 0 ELSE 1 END, s.saved_at DESC, s.id DESC LIMIT 1""",
        [project_id, agent.casefold()],
    )
    return SavedSession(*found[0]) if found else None
