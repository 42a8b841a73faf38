"""The rows of sessions as dataclasses, and the state of their workspaces."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import CONTENT_BYTES
from ctxhub.core.kit.rows import Computed, Row, Table
from sessions.sittings.models import DEFAULT_WORKSPACE, AgentSession

# Of the items of a session the most important ones are indexed, up to so many characters.
INDEXED_CHARACTERS = CONTENT_BYTES


@frozen(kw_only=True)
class SessionRow(Row):
    """`conversation` is the newest one, and `active_project` and `branch` are those of the newest state.

    `items`: their texts, as `item_texts` returns them, as far as they are indexed.
    """

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
    items: Sequence[str] = ()
    active_project: str = ""
    branch: str = ""


def item_texts(items: Iterable[tuple[int, int, str, str]]) -> tuple[str, ...]:
    """The texts of items (importance, position, category, content), the most important first."""
    ordered = sorted(items, key=lambda item: (-item[0], item[1]))
    return tuple(f"{category}: {content}" if category else content for _, _, category, content in ordered)


@frozen
class SavedWorkspace:
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


def _items() -> str:
    """The items that are indexed, as JSON. Those before each of them have less than INDEXED_CHARACTERS."""
    content = f"substr(n.content, 1, {INDEXED_CHARACTERS})"
    return f"""
        (SELECT {sql.json_list(sql.json_array("n.importance", "n.position", "n.category", content))} FROM (
            SELECT i.*, sum(length(i.content)) OVER (ORDER BY i.importance DESC, i.position)
                - length(i.content) AS before
            FROM agent_sessions_contextitem i WHERE i.session_id = d.id
        ) n WHERE n.before < {INDEXED_CHARACTERS})"""


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
        "items": Computed(_items, lambda items: item_texts(sql.read_json(items or "[]"))),
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
