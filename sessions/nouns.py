"""Registers the nouns of the sessions app with the hub."""

from ctxhub.core import transfer
from ctxhub.core.hub.overview import register_agent_facts
from ctxhub.core.hub.stored import stored_beside
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.known_names import hold_names
from ctxhub.core.links import heads_of
from ctxhub.core.registry import Deletion, Noun, counter_of, register
from sessions.models import AgentSession, ContextItem, Conversation
from sessions.sittings.history import HISTORY
from sessions.sittings.queries import current_sessions, ids_of_sessions, open_sessions
from sessions.sittings.services import (
    delete_sessions,
    files_along,
    find_deletable_sessions,
    sizes_of_sessions,
)

transfer.modules.append("sessions.exports")
register(
    Noun(
        "session",
        "sessions",
        AgentSession,
        count=counter_of("session"),
        open=open_sessions,
        text="summary",
        history=HISTORY,
        ids_of=ids_of_sessions,
        heads=heads_of("session", AgentSession, "summary", also="name", at="created_at", why="d.summary"),
        wakes=False,
        deletion=Deletion(
            find_deletable_sessions,
            delete_sessions,
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
