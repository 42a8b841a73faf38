"""Finds the session that a call belongs to."""

from datetime import datetime, timedelta
from typing import NamedTuple

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


class Found(NamedTuple):
    """A session: its id, the id of its agent, and when it was last written or worked in."""

    id: int
    agent_id: int | None
    updated_at: datetime


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
        session_id = window.session_of(caller.agent)
        return _of_window(caller, session_id) if session_id else None
    return _current(caller, clock.now())


def find_session_id(caller: Caller) -> int | None:
    found = find_session(caller)
    return found.id if found else None


def clean_session_name(named: str) -> str:
    return clean_name(name_of_ref(named, "session"), "session", at_most=SESSION_NAME_LENGTH)


def _of_window(caller: Caller, session_id: int) -> Found | None:
    """The agent's session in the window, unless it was deleted since."""
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
        "SELECT s.id, s.agent_id, s.updated_at FROM agent_sessions_agentsession s"
        f" WHERE s.project_id = %s AND {condition}",
        values,
    )
    if not found:
        return None
    [(session_id, agent_id, updated_at)] = found
    return Found(session_id, agent_id, sql.read_time(updated_at))
