"""Finds the session that a call belongs to."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller, Window
from ctxhub.core.kit.errors import InvalidInput, NotAllowed, NotFound, shown
from ctxhub.core.kit.inputs import clean_name, read_id
from ctxhub.core.kit.lengths import SESSION_NAME_LENGTH
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.registry import name_of_ref

# A call over HTTP that names no session belongs to the agent's last one, unless that is older.
CURRENT_FOR = timedelta(hours=24)
AGENT = "s.agent_id = (SELECT id FROM core_agent WHERE project_id = %s AND folded = %s)"

NUMBERED = re.compile(r"(?:sessions?[ :/=]*#?|#) *(\d+)", re.ASCII | re.IGNORECASE)
NO_NAMES = frozenset(
    ["last", "latest", "newest", "most recent", "previous", "null", "none", "undefined", "latest session"]
)


class FoundSession(NamedTuple):
    """A session: its id, the id of its agent, and when it was last written or worked in."""

    id: int
    agent_id: int | None
    updated_at: datetime


def find_named(project_id: int, named: str) -> FoundSession | None:
    """The session with this id, ref or name; None for an unknown name.

    An id may be written as people do (`session 5`, `#5`). Raises NotFound for an unknown one, and for a word
    that says which session is meant and is no name.
    """
    name = clean_session_name(named)
    if name.isdecimal():
        return _find_numbered(project_id, name)
    if found := _select("s.name = %s", [project_id, name]):
        return found
    if numbered := NUMBERED.fullmatch(name):
        return _find_numbered(project_id, numbered[1])
    if name.casefold() in NO_NAMES:
        raise _no_name(name)
    return None


def _find_numbered(project_id: int, number: str) -> FoundSession:
    row_id = read_id(number)
    found = _select("s.id = %s", [project_id, row_id]) if row_id else None
    if found is None:
        raise unknown_session(number)
    return found


def _no_name(word: str) -> NotFound:
    """Before a write would open a session of this name."""
    return NotFound(
        f"There is no session {shown(word)}.",
        hint=f"Leave session out: {operation('session restore')} goes on from the one that you saved last, "
        f"and what you write belongs to your own. {operation('session list')} shows all, newest first.",
    )


def name_of_named(project_id: int, named: str) -> str:
    """The name of the session with this id, ref or name: `#5` for one without.

    Raises NotFound like `find_named`.
    """
    name = clean_session_name(named)
    if not name.isdecimal() and not NUMBERED.fullmatch(name) and name.casefold() not in NO_NAMES:
        return name
    if (found := find_named(project_id, name)) is None:
        return name
    [(stored,)] = sql.rows("SELECT name FROM agent_sessions_agentsession WHERE id = %s", [found.id])
    return str(stored) or f"#{found.id}"


def get_named(project_id: int, named: str) -> FoundSession:
    """The session with this id, ref or name. Raises NotFound."""
    if (found := find_named(project_id, named)) is None:
        raise unknown_session(named)
    return found


def find_session(caller: Caller) -> FoundSession | None:
    """The session that the call belongs to; None if it has none yet."""
    if caller.session:
        return find_named(caller.project_id, caller.session)
    if window := caller.window:
        if window.is_remote:
            return _of_remote_window(caller, window)
        session_id = window.session_of(caller.agent)
        return _of_window(caller, session_id) if session_id else None
    return _current(caller, clock.now())


def find_session_id(caller: Caller) -> int | None:
    found = find_session(caller)
    return found.id if found else None


def another_agents(session_id: int) -> NotAllowed:
    """The error for a call that would write in the session of another agent."""
    return NotAllowed(
        f"session {session_id} is another agent's.",
        hint="Restore it: that makes one of your own. Or leave session out.",
    )


def clean_session_name(named: str) -> str:
    return clean_name(name_of_ref(named, "session"), "session", at_most=SESSION_NAME_LENGTH)


def unknown_session(named: str) -> NotFound:
    return NotFound(f"There is no session {shown(named)}.", hint=f"{operation('session list')} shows them.")


def _of_window(caller: Caller, session_id: int) -> FoundSession | None:
    """The agent's session in the window, unless it was deleted since."""
    return _select(f"s.id = %s AND {AGENT}", [caller.project_id, session_id, *_agent(caller)])


def _of_remote_window(caller: Caller, window: Window) -> FoundSession | None:
    among, names = sql.among("s.name", names_in(window, caller.agent))
    return _select(f"s.name <> '' AND {among} AND {AGENT}", [caller.project_id, *names, *_agent(caller)])


def names_in(window: Window, agent: str) -> tuple[str, str]:
    """What the session of an agent in a window is called: as the window, unless another agent's there is."""
    return window.name, f"{window.name} {agent.casefold()}"[:SESSION_NAME_LENGTH]


def free_name_in(window: Window, caller: Caller) -> str:
    """The name that a new session of the agent in a window gets; "" if there is none left."""
    names = names_in(window, caller.agent)
    among, values = sql.among("name", names)
    found = sql.rows(
        f"SELECT name FROM agent_sessions_agentsession WHERE project_id = %s AND name <> '' AND {among}",
        [caller.project_id, *values],
    )
    taken = {name for (name,) in found}
    return next((name for name in names if name not in taken), "")


def _current(caller: Caller, now: datetime) -> FoundSession | None:
    """The agent's last session that was saved, restored or opened without a name."""
    return _select(
        f"{AGENT} AND s.current_at IS NOT NULL AND s.current_at > %s"
        " ORDER BY s.current_at DESC, s.id DESC LIMIT 1",
        [caller.project_id, *_agent(caller), sql.stored_time(now - CURRENT_FOR)],
    )


def _agent(caller: Caller) -> tuple[int, str]:
    """The values of AGENT."""
    return caller.project_id, caller.agent.casefold()


def _select(condition: str, values: list[object]) -> FoundSession | None:
    found = sql.rows(
        "SELECT s.id, s.agent_id, s.updated_at FROM agent_sessions_agentsession s"
        f" WHERE s.project_id = %s AND {condition}",
        values,
    )
    if not found:
        return None
    [(session_id, agent_id, updated_at)] = found
    return FoundSession(session_id, agent_id, sql.read_time(updated_at))


# -- The sessions of many calls --------------------------------------------------------------------


def find_places(
    project_id: int, callers: Sequence[Caller], agents: Mapping[str, int], now: datetime
) -> list[tuple[int | None, str]]:
    """The sessions that calls belong to, with one statement: the id, or the name of one not opened yet.

    `agents`: the ids of the agents by case-folded name.
    """
    named = {caller.session: _read_name(caller.session) for caller in callers if caller.session}
    windows = [caller.window.session_of(caller.agent) for caller in callers if caller.window]
    ids = {row_id for row_id in (*map(read_id, named.values()), *windows) if row_id}
    names = {name for name in named.values() if name and not name.isdecimal()}
    for caller in callers:
        if caller.window and caller.window.is_remote:
            names.update(names_in(caller.window, caller.agent))
    since = now - CURRENT_FOR
    stored = _select_many(project_id, since, sorted(agents.values()), sorted(ids), sorted(names))
    return [
        _find_named_place(named[caller.session], stored)
        if caller.session
        else (_find_own(caller, agents[caller.agent.casefold()], stored, since), "")
        for caller in callers
    ]


class _Stored(NamedTuple):
    id: int
    agent_id: int | None
    name: str
    current_at: datetime | None


def _find_named_place(name: str, stored: Sequence[_Stored]) -> tuple[int | None, str]:
    if name.isdecimal():
        row_id = read_id(name)
        return (row_id if any(row.id == row_id for row in stored) else None), ""
    found = next((row.id for row in stored if name and row.name == name), None)
    return (found, "") if found else (None, name)


def _find_own(caller: Caller, agent_id: int, stored: Sequence[_Stored], since: datetime) -> int | None:
    own = [row for row in stored if row.agent_id == agent_id]
    if window := caller.window:
        session_id = window.session_of(caller.agent)
        names = names_in(window, caller.agent) if window.is_remote else ()
        return next((row.id for row in own if row.id == session_id or row.name in names), None)
    current = [(row.current_at, row.id) for row in own if row.current_at and row.current_at > since]
    return max(current)[1] if current else None


def _read_name(session: str) -> str:
    """The name or number of a session as a call gave it; "" if it cannot be one."""
    try:
        return clean_session_name(session)
    except InvalidInput:
        return ""


def _select_many(
    project_id: int, since: datetime, agent_ids: Sequence[int], ids: Sequence[int], names: Sequence[str]
) -> list[_Stored]:
    """The sessions of the agents that became current after `since`, and those with these ids or names."""
    moment = sql.stored_time(since)
    conditions: list[tuple[str, list[object], Sequence[int] | Sequence[str]]] = [
        ("s.current_at IS NOT NULL AND s.current_at > %s AND s.agent_id", [moment], agent_ids),
        ("s.id", [], ids),
        ("s.name <> '' AND s.name", [], names),
    ]
    branches: list[str] = []
    given: list[object] = []
    for column, bounds, some in conditions:
        if some:
            among, values = sql.among(column, some)
            branches.append(
                "SELECT s.id, s.agent_id, s.name, s.current_at FROM agent_sessions_agentsession s"
                f" WHERE s.project_id = %s AND {among}"
            )
            given += [project_id, *bounds, *values]
    found = sql.rows(" UNION ALL ".join(branches), given)
    return [
        _Stored(row_id, agent_id, name, sql.read_time(current_at) if current_at else None)
        for row_id, agent_id, name, current_at in found
    ]
