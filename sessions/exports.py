"""What sessions, dependencies of files, and what agents were given are in an export."""

import hashlib

from ctxhub.core.events.counters import counter_key
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, Part, Values, register
from sessions.models import (
    Access,
    AgentSession,
    Briefing,
    BriefingItem,
    ContextItem,
    Conversation,
    Notice,
    ResourceDependency,
    SessionResource,
    WorkspaceState,
    Writing,
)


def _conversation_derived(values: Values) -> Values:
    text = values["text"]
    return {"hash": hashlib.sha256(text.encode()).hexdigest(), "token_count": count_tokens(text)}


register(
    Exported(ResourceDependency, kind="dependency", natural=("source_id", "target_id", "type")),
    Exported(
        AgentSession,
        linked=("summary",),
        kind="session",
        natural=("name",),
        counter=lambda values: None if values["is_implicit"] else counter_key("session"),
        parts=(
            Part(
                Conversation,
                derived=("hash", "token_count"),
                derive=_conversation_derived,
                name="conversations",
                owner="session_id",
            ),
            Part(
                ContextItem,
                name="items",
                owner="session_id",
                order=("position",),
            ),
            Part(
                WorkspaceState,
                cleaners={"enabled_mcps": cleaners.texts, "settings": cleaners.object_},
                name="states",
                owner="session_id",
            ),
            Part(SessionResource, name="files", owner="session_id"),
            Part(Access, name="accesses", owner="session_id"),
        ),
    ),
)


OBJECT = {"object": ("kind", "object_id")}

register(
    Exported(
        Briefing,
        kind="given",
        parts=(Part(BriefingItem, points=OBJECT, name="items", owner="briefing_id"),),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
    Exported(
        Notice,
        ids={"message_id": "message"},
        points=OBJECT,
        kind="notice",
        natural=("agent_id", "kind", "object_id", "version"),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
    Exported(
        Writing,
        ids={"session_id": "session"},
        points=OBJECT,
        kind="writing",
        natural=("agent_id", "kind", "object_id", "session_id", "session_name"),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
)
