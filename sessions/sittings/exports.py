"""What sessions and the dependencies of files are in an export."""

import hashlib

from ctxhub.core.events.services.counters import counter_key
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, Part, Values, register
from sessions.models import (
    Access,
    AgentSession,
    ContextItem,
    Conversation,
    ResourceDependency,
    SessionResource,
    WorkspaceState,
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
