"""Opens the session that a call belongs to, and registers how sessions are found."""

from datetime import datetime

from django.db import transaction

from ctxhub.core.call_sessions import register_finder
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotAllowed
from sessions.sittings.history.sessions import count_opened
from sessions.sittings.models.session import DEFAULT_WORKSPACE
from sessions.sittings.selectors.calls import clean_session_name, find_session, find_session_id

COLUMNS = (
    *("project_id", "agent_id", "name", "workspace_id", "summary", "token_count", "is_implicit"),
    *("created_at", "updated_at", "current_at"),
)


def open_session(caller: Caller, agent_id: int, at: datetime) -> int:
    """The id of the session that the call belongs to; opens it if needed.

    Runs inside the write transaction of the call. Raises NotAllowed for another agent's session.
    """
    if found := find_session(caller):
        session_id, owner_id = found
        if owner_id != agent_id:
            raise NotAllowed(
                f"session {session_id} is another agent's.",
                hint="Restore it: that makes one of your own. Or leave session out.",
            )
        return session_id
    session_id = _insert(caller, agent_id, at)
    if caller.session:
        count_opened(caller.project_id)
    if (window := caller.window) and not caller.session:
        # Only once it is stored: after a rollback the id may go to another session.
        transaction.on_commit(lambda: setattr(window, "session_id", session_id))
    return session_id


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
    def find(self, caller: Caller) -> int | None:
        return find_session_id(caller)

    def open(self, caller: Caller, agent_id: int, at: datetime) -> int:
        return open_session(caller, agent_id, at)


register_finder(CallSessions())
