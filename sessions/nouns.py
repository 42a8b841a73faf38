"""Registers the noun `session` with the hub, the session of a call, what was given, and retention."""

from functools import partial

from ctxhub.core import transfer
from ctxhub.core.call_sessions import register_finder
from ctxhub.core.emptying import delete_objects
from ctxhub.core.events.cleanup import cleanup_tasks
from ctxhub.core.given import register_reader
from ctxhub.core.hub.overview import register_agent_facts
from ctxhub.core.hub.stored import stored_beside
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.known_names import hold_names
from ctxhub.core.links import heads_of
from ctxhub.core.registry import Deletion, Noun, register
from sessions.accesses.dependencies import strengths_of_incoming
from sessions.given.queries import given_since
from sessions.given.services import clean_briefings
from sessions.models import AgentSession, ContextItem, Conversation
from sessions.retention import clean_accesses, clean_sessions
from sessions.sittings.history import HISTORY
from sessions.sittings.queries import current_sessions, ids_of_sessions, open_sessions
from sessions.sittings.services import (
    files_along,
    find_deletable_sessions,
    sizes_of_sessions,
)
from sessions.windows.opening import CallSessions
from tracking.files import queries as files

transfer.modules.append("sessions.exports")
register(
    Noun(
        "session",
        "sessions",
        AgentSession,
        open=open_sessions,
        text="summary",
        history=HISTORY,
        ids_of=ids_of_sessions,
        heads=heads_of("session", AgentSession, "summary", also="name", at="created_at", why="d.summary"),
        wakes=False,
        deletion=Deletion(
            find_deletable_sessions,
            partial(delete_objects, history=HISTORY),
            along=files_along,
            sizes=sizes_of_sessions,
            others_scope=ADMIN,
        ),
    )
)
stored_beside += [("conversations of sessions", Conversation), ("context items of sessions", ContextItem)]
register_agent_facts(current_sessions, "session")
hold_names(AgentSession, found_by="name", kind="session")
hold_names(AgentSession, "workspace_id", found_by="workspace_id", kind="session")
register_finder(CallSessions())
register_reader(given_since)
files.strengths_of_incoming.append(strengths_of_incoming)
cleanup_tasks += [
    lambda project_id, now, config: clean_sessions(project_id, now, config.session_days),
    lambda project_id, now, config: clean_accesses(project_id, now, config.access_days),
    lambda project_id, now, config: clean_briefings(project_id, now, config.access_days),
]
