"""A session as one text: what it is about, its state, items, files and conversations, as they are stored."""

from collections.abc import Iterator

from ctxhub.core.kit.clock import format_time
from ctxhub.core.templatetags.entries import written
from sessions.sittings.models.resources import SessionResource
from sessions.sittings.models.session import AgentSession, ContextItem, Conversation, WorkspaceState

CONVERSATIONS, FILES = 200, 2_000


def session_text(row: AgentSession) -> str:
    """The newest 200 conversations and 2,000 files at most; it says how many more there are."""
    parts = [_head(row), *_state(row), *_items(row), *_files(row), *_conversations(row)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _head(row: AgentSession) -> str:
    name, agent = f" ({row.name})" if row.name else "", row.agent.name if row.agent else "system"
    lines = [
        f"Session {row.pk}{name} of {agent}",
        f"Project: {row.project.slug}",
        f"Workspace: {row.workspace_id}",
        f"Created: {format_time(row.created_at)}",
        f"Saved: {format_time(row.saved_at) if row.saved_at else 'never'}",
        f"Tokens: {row.token_count}",
        *([f"Continues: session {row.parent_id}"] if row.parent_id else []),
    ]
    return "\n".join([*lines, *(["", row.summary] if row.summary else [])])


def _state(row: AgentSession) -> Iterator[str]:
    states = WorkspaceState.objects.in_project(row.project_id).filter(session=row)
    if state := states.order_by("-created_at", "-pk").first():
        facts = {
            "Active project": state.active_project,
            "Branch": state.branch,
            "Worktree": state.worktree,
            "MCP servers": ", ".join(state.enabled_mcps),
            **state.settings,
        }
        yield _section(
            "State", "\n".join(f"{name}: {written(value)}" for name, value in facts.items() if value)
        )


def _items(row: AgentSession) -> Iterator[str]:
    items = ContextItem.objects.in_project(row.project_id).filter(session=row)
    for item in items.order_by("-importance", "position"):
        title = f"Item {item.position + 1}{f', {item.category}' if item.category else ''}"
        yield _section(f"{title}, importance {item.importance}", item.content)


def _files(row: AgentSession) -> Iterator[str]:
    files = SessionResource.objects.in_project(row.project_id).filter(session=row)
    paths = list(files.order_by("resource__path").values_list("resource__path", flat=True)[: FILES + 1])
    if paths:
        rest = ["More files are left out."] if len(paths) > FILES else []
        yield _section("Files", "\n".join([*paths[:FILES], *rest]))


def _conversations(row: AgentSession) -> Iterator[str]:
    """The oldest of them first, as they were led."""
    found = Conversation.objects.in_project(row.project_id).filter(session=row)
    newest = list(found.order_by("-created_at", "-pk")[: CONVERSATIONS + 1])
    if len(newest) > CONVERSATIONS:
        yield _section("Conversations", f"Those before the newest {CONVERSATIONS} are left out.")
    for each in reversed(newest[:CONVERSATIONS]):
        yield _section(
            f"Conversation of {format_time(each.created_at)}, {each.token_count} tokens", each.text
        )


def _section(title: str, text: str) -> str:
    return f"{title}\n{'-' * len(title)}\n{text}"
