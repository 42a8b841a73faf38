"""Finds the session that a call belongs to."""

from datetime import datetime, timedelta

from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import clean_name, read_id
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.registry import name_of_ref
from sessions.sittings.models.session import SESSION_NAME_LENGTH

# A call over HTTP that names no session belongs to the agent's last one, unless that is older.
CURRENT_FOR = timedelta(hours=24)
AGENT = "s.agent_id = (SELECT id FROM core_agent WHERE project_id = %s AND folded = %s)"
Found = tuple[int, int | None]
"""The id of a session, and the id of its agent."""


def find_named(project_id: int, named: str) -> Found | None:
    """The session with this id, ref or name; None for an unknown name. Raises NotFound for an unknown id."""
    name = clean_session_name(named)
    if not name.isdecimal():
        return _select("s.name = %s", [project_id, name])
    row_id = read_id(name)
    found = _select("s.id = %s", [project_id, row_id]) if row_id else None
    if found is None:
        raise NotFound(f"There is no session {shown(name)}.", hint=f"{operation('session list')} shows them.")
    return found


def find_session(caller: Caller) -> Found | None:
    """The session that the call belongs to; None if it has none yet."""
    if caller.session:
        return find_named(caller.project_id, caller.session)
    if window := caller.window:
        return _of_window(caller, window.session_id) if window.session_id else None
    return _current(caller, clock.now())


def find_session_id(caller: Caller) -> int | None:
    found = find_session(caller)
    return found[0] if found else None


def clean_session_name(named: str) -> str:
    return clean_name(name_of_ref(named, "session"), "session", at_most=SESSION_NAME_LENGTH)


def _of_window(caller: Caller, session_id: int) -> Found | None:
    """The window's session, if it is the agent's: several agents may speak in one window."""
    return _select(f"s.id = %s AND {AGENT}", [caller.project_id, session_id, *_agent(caller)])


def _current(caller: Caller, now: datetime) -> Found | None:
    """The agent's last session that was saved, restored or opened without a name."""
    return _select(
        f"{AGENT} AND s.current_at IS NOT NULL AND s.current_at > %s"
        " ORDER BY s.current_at DESC, s.id DESC LIMIT 1",
        [caller.project_id, *_agent(caller), sql.stored_time(now - CURRENT_FOR)],
    )


def _agent(caller: Caller) -> tuple[int, str]:
    """The values of AGENT."""
    return caller.project_id, caller.agent.casefold()


def _select(condition: str, values: list[object]) -> Found | None:
    found = sql.rows(
        f"SELECT s.id, s.agent_id FROM agent_sessions_agentsession s WHERE s.project_id = %s AND {condition}",
        values,
    )
    return found[0] if found else None
