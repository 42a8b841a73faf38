"""Opens the session that a call belongs to, and registers how sessions are found."""

from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller, Window
from ctxhub.core.search.index import index_again
from sessions.sittings.history import count_opened
from sessions.sittings.models import DEFAULT_WORKSPACE
from sessions.windows.calls import (
    FoundSession,
    another_agents,
    clean_session_name,
    find_session,
    find_session_id,
    free_name_in,
    name_of_named,
)

# How often the calls of a session that only track move its time, from which it is forgotten.
TOUCHED_EVERY = timedelta(minutes=1)
COLUMNS = (
    *("project_id", "agent_id", "name", "workspace_id", "summary", "token_count", "is_implicit"),
    *("created_at", "updated_at", "current_at"),
)


def open_session(caller: Caller, agent_id: int, at: datetime) -> int:
    """The id of the session that the call belongs to; opens it if needed.

    Runs inside the write transaction of the call. Raises NotAllowed for another agent's session.
    """
    if found := find_session(caller):
        if found.agent_id != agent_id:
            raise another_agents(found.id)
        touch_session(found, at)
        return found.id
    session_id = _insert(caller, agent_id, at)
    if caller.session:
        count_opened(caller.project_id)
    else:
        enter_session(caller, session_id)
    return session_id


def touch_session(session: FoundSession, at: datetime) -> None:
    """Keep a session that is worked in from being forgotten; writes at most once a minute.

    One that was opened without a name stays the agent's current one.
    """
    if at - session.updated_at >= TOUCHED_EVERY:
        moment = sql.stored_time(at)
        sql.execute(
            "UPDATE agent_sessions_agentsession SET updated_at = %s, current_at ="
            " CASE WHEN is_implicit AND current_at IS NOT NULL THEN %s ELSE current_at END WHERE id = %s",
            [moment, moment, session.id],
        )


def enter_session(caller: Caller, session_id: int) -> None:
    """Let the later calls of the agent in its window belong to a session.

    In a process once it is stored: after a rollback the id may go to another session.
    """
    window = caller.window
    if window is None:
        return
    if window.is_remote:
        _enter_remotely(caller, window, session_id)
    else:
        transaction.on_commit(lambda: window.enter(caller.agent, session_id))


def _enter_remotely(caller: Caller, window: Window, session_id: int) -> None:
    """Give the name of the window to a session that has none: any process finds it by that."""
    [(name,)] = sql.rows("SELECT name FROM agent_sessions_agentsession WHERE id = %s", [session_id])
    if name:
        return
    if before := find_session(replace(caller, session="")):
        _rename(caller.project_id, before.id, "")
    if name := free_name_in(window, caller):
        _rename(caller.project_id, session_id, name)


def _rename(project_id: int, session_id: int, name: str) -> None:
    sql.execute("UPDATE agent_sessions_agentsession SET name = %s WHERE id = %s", [name, session_id])
    index_again(project_id, "session", [session_id])


def _insert(caller: Caller, agent_id: int, at: datetime) -> int:
    name = clean_session_name(caller.session) if caller.session else ""
    moment = sql.stored_time(at)
    is_current = not name and caller.window is None
    [(session_id,)] = sql.insert(
        "agent_sessions_agentsession",
        COLUMNS,
        [
            (
                *(caller.project_id, agent_id, name, DEFAULT_WORKSPACE, "", 0, not name),
                *(moment, moment, moment if is_current else None),
            )
        ],
        "RETURNING id",
    )
    return int(session_id)


class CallSessions:
    def name(self, caller: Caller) -> str:
        return name_of_named(caller.project_id, caller.session)

    def find(self, caller: Caller) -> int | None:
        return find_session_id(caller)

    def open(self, caller: Caller, agent_id: int, at: datetime) -> int:
        return open_session(caller, agent_id, at)
