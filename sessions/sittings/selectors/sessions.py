"""Reads sessions by id, ref and name, with their conversations, items and state."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired, cast

# Pydantic builds schemas of it and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.hub.partial_reads import Opened, Reading, clean_requested_lines, only
from ctxhub.core.kit import clock
from ctxhub.core.kit.answers import MAX_TOKENS
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput, NotFound, shown
from ctxhub.core.kit.inputs import CONTENT_BYTES, read_id
from ctxhub.core.kit.listing import PREVIEW_CHARACTERS, Listing, preview
from ctxhub.core.toolbox.argument_types import About, Author, RowsOf, Time
from sessions.sittings.rows.sessions import SESSIONS, SHOWN, SessionRow, State
from sessions.sittings.selectors.calls import CURRENT_FOR, get_named
from sessions.sittings.sql.sessions import (
    StoredConversation,
    StoredItem,
    find_ids,
    read_conversation,
    read_conversations,
    read_current,
    read_items,
    read_states,
)

CONVERSATION_COLUMNS = ("id", "tokens", "at", "text")
ITEM_COLUMNS = ("category", "content", "importance", "tokens")


class WorkspaceState(TypedDict, total=False):
    active_project: str
    enabled_mcps: list[str]
    settings: dict[str, Any]
    branch: str
    worktree: str


class ListedConversation(TypedDict):
    id: int
    tokens: int
    at: Time
    text: NotRequired[Annotated[str, About("With `full`.")]]


class ListedItem(TypedDict):
    category: str
    content: str
    importance: int
    tokens: int


class Session(TypedDict):
    session: int
    name: NotRequired[str]
    workspace_id: str
    agent: Author
    summary: str
    token_count: int
    parent: int | None
    children: int
    conversations: Annotated[
        Listing, RowsOf(ListedConversation), About("Their id, tokens, at; with `full` also the text.")
    ]
    items: Annotated[Listing, RowsOf(ListedItem), About("Their category, content, importance, tokens.")]
    resources: int
    state: NotRequired[WorkspaceState]
    at: Time
    saved_at: Time | None


class ReadConversation(TypedDict):
    session: int
    conversation: int
    tokens: int
    at: Time
    text: str


def get_session(project_id: int, named: str | int, names: Sequence[str] = SHOWN) -> SessionRow:
    """The session with this id, ref or name. Raises NotFound."""
    found = get_named(project_id, str(named))
    [row] = SESSIONS.read(project_id, [found.id], names).values()
    return row


def open_session_parts(
    project_id: int,
    named: str | int,
    *,
    full: bool = False,
    conversation: int | None = None,
    lines: str | None = None,
    tail: int | None = None,
) -> Opened:
    """A session, or with `conversation` one of its conversations or some lines of it."""
    requested = clean_requested_lines(lines, tail)
    if requested and conversation is None:
        raise InvalidInput("lines and tail read one conversation.", missing=["conversation"])
    row = get_session(project_id, named)
    if conversation is not None:
        return Opened(_conversation_item(row, conversation), "text", requested, "session")
    [item] = session_items([row], full=full).values()
    return Opened(item, "summary", kind="session")


def read_session(project_id: int, named: str | int, **part: Any) -> Reading[Any]:
    """The answer of `session get`; the arguments are those of `open_session_parts`."""
    return Reading([open_session_parts(project_id, named, **part)], only)


def open_sessions(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """Items by their ref names, which are ids or names: all texts if `full`, else the first characters."""
    ids = ids_of_sessions(project_id, names)
    rows = list(SESSIONS.read(project_id, list(dict.fromkeys(ids.values())), SHOWN).values())
    items = session_items(rows, full=full)
    return {name: items[row_id] for name, row_id in ids.items() if row_id in items}


def ids_of_sessions(project_id: int, names: Sequence[str]) -> dict[str, int]:
    """Ids by names of refs; unknown names are left out."""
    ids = {name: row_id for name in names if (row_id := read_id(name))}
    others = [name for name in names if name not in ids]
    return ids | (find_ids(project_id, others) if others else {})


def current_sessions(project_id: int, agents: Sequence[str]) -> Mapping[str, int]:
    """The current session of each agent, by case-folded names."""
    return read_current(project_id, agents, clock.now() - CURRENT_FOR)


def session_items(rows: Sequence[SessionRow], *, full: bool) -> dict[int, dict[str, Any]]:
    """The sessions as `get` shows them, by id. `full`: with conversations and whole items."""
    if not rows:
        return {}
    ids = [row.id for row in rows]
    conversations = read_conversations(ids, text_tokens=MAX_TOKENS if full else 0)
    items = read_items(ids, CONTENT_BYTES if full else PREVIEW_CHARACTERS + 1)
    states = read_states(ids)
    return {
        row.id: _item(row, conversations.get(row.id, []), items.get(row.id, []), states.get(row.id), full)
        for row in rows
    }


def conversation_listing(conversations: Sequence[StoredConversation], *, full: bool = True) -> Listing:
    """Rows id, tokens, at and, if `full`, text."""
    columns = CONVERSATION_COLUMNS if full else CONVERSATION_COLUMNS[:-1]
    rows = [[each.id, each.tokens, format_time(each.at), each.text] for each in conversations]
    return Listing(columns, [row[: len(columns)] for row in rows])


def item_listing(items: Sequence[StoredItem], *, full: bool = True) -> Listing:
    rows = [[i.category, preview(i.content, full=full), i.importance, i.tokens] for i in items]
    return Listing(ITEM_COLUMNS, rows)


def _item(
    row: SessionRow,
    conversations: Sequence[StoredConversation],
    items: Sequence[StoredItem],
    state: State | None,
    full: bool,
) -> dict[str, Any]:
    item = Session(
        session=row.id,
        name=row.name,
        workspace_id=row.workspace_id,
        agent=row.agent,
        summary=row.summary,
        token_count=row.token_count,
        parent=row.parent_id,
        children=row.children,
        conversations=conversation_listing(conversations, full=full),
        items=item_listing(items, full=full),
        resources=row.resources,
        state=cast(WorkspaceState, (state or State()).as_dict()),
        at=format_time(row.created_at),
        saved_at=_time(row.saved_at),
    )
    empty = {"name": row.name, "state": state}
    return {field: value for field, value in item.items() if empty.get(field, True)}


def _conversation_item(row: SessionRow, conversation: int) -> dict[str, Any]:
    found = read_conversation(row.id, conversation) if 0 < conversation < 2**63 else None
    if found is None:
        raise NotFound(f"Session {row.id} has no conversation {shown(conversation)}.")
    return dict(
        ReadConversation(
            session=row.id,
            conversation=found.id,
            tokens=found.tokens,
            at=format_time(found.at),
            text=found.text,
        )
    )


def _time(moment: datetime | None) -> str | None:
    return format_time(moment) if moment else None
