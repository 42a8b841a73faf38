"""The rows of sessions as dataclasses, and the state of their workspaces."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from ctxhub.core.kit.rows import Computed, Row, Table
from sessions.sittings.models.session import DEFAULT_WORKSPACE, AgentSession


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow(Row):
    """`conversation` is the newest one, and `active_project` and `branch` are those of the newest state."""

    name: str = ""
    workspace_id: str = DEFAULT_WORKSPACE
    summary: str = ""
    token_count: int = 0
    parent_id: int | None = None
    is_implicit: bool = False
    saved_at: datetime | None = None
    current_at: datetime | None = None
    children: int = 0
    resources: int = 0
    conversation: str = ""
    conversation_id: int | None = None
    conversation_hash: str = ""
    conversation_tokens: int = 0
    item_tokens: int = 0
    active_project: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """The state of a workspace."""

    active_project: str = ""
    enabled_mcps: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    branch: str = ""
    worktree: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "enabled_mcps": list(self.enabled_mcps)}


def _newest(column: str, table: str) -> str:
    return (
        f"(SELECT n.{column} FROM agent_sessions_{table} n WHERE n.session_id = d.id"
        " ORDER BY n.created_at DESC, n.id DESC LIMIT 1)"
    )


def _count(table: str, column: str) -> str:
    return f"(SELECT count(*) FROM agent_sessions_{table} n WHERE n.{column} = d.id)"


SESSIONS = Table(
    AgentSession,
    SessionRow,
    computed={
        "children": Computed(_count("agentsession", "parent_id")),
        "resources": Computed(_count("sessionresource", "session_id")),
        "conversation": Computed(_newest("text", "conversation"), lambda text: text or ""),
        "conversation_id": Computed(_newest("id", "conversation")),
        "conversation_hash": Computed(_newest("hash", "conversation"), lambda text: text or ""),
        "conversation_tokens": Computed(_newest("token_count", "conversation"), lambda count: count or 0),
        "item_tokens": Computed(
            "(SELECT sum(n.token_count) FROM agent_sessions_contextitem n WHERE n.session_id = d.id)",
            lambda count: int(count or 0),
        ),
        "active_project": Computed(_newest("active_project", "workspacestate"), lambda text: text or ""),
        "branch": Computed(_newest("branch", "workspacestate"), lambda text: text or ""),
    },
)

# The columns that lists read: no conversations.
LISTED = (
    *("id", "agent", "workspace_id", "summary", "token_count", "parent_id", "created_at", "updated_at"),
)
# What get shows besides conversations, items and state.
SHOWN = (*LISTED, "name", "is_implicit", "saved_at", "children", "resources")
ORDER = ("-created_at", "-id")
