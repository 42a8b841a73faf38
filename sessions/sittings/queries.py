"""Reads sessions: lists by workspace, agent and parent, and by id, ref and name with what they hold."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired, Unpack, cast

# Pydantic builds schemas of it and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.hub.partial_reads import Opened, Reading, clean_requested_lines, only
from ctxhub.core.kit import clock
from ctxhub.core.kit.answers import MAX_TOKENS
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput, NotFound, shown
from ctxhub.core.kit.inputs import CONTENT_BYTES, WORD_LENGTH, clean_limit, clean_name, read_id
from ctxhub.core.kit.limits import OPTIONAL_NAME
from ctxhub.core.kit.listing import PREVIEW_CHARACTERS, Listing, preview
from ctxhub.core.kit.ordering import Ordering, way_of
from ctxhub.core.kit.pages import Condition, ListPlan, in_order
from ctxhub.core.vocabulary.names import find_vocabulary
from ctxhub.toolbox.argument_types import (
    UNDECLARED,
    About,
    Author,
    ByAgent,
    Cursor,
    Default,
    Limit,
    Ref,
    RowsOf,
    Time,
)
from sessions.sittings.contents import (
    StoredConversation,
    StoredItem,
    find_ids,
    read_ancestors,
    read_conversation,
    read_conversations,
    read_current,
    read_items,
    read_states,
)
from sessions.sittings.models import WORKSPACE_LENGTH
from sessions.sittings.rows import LISTED, ORDER, SESSIONS, SHOWN, SavedWorkspace, SessionRow
from sessions.windows.calls import CURRENT_FOR, get_named

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
    state: SavedWorkspace | None,
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
        state=cast(WorkspaceState, (state or SavedWorkspace()).as_dict()),
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


COLUMNS = ("session", "agent", "workspace_id", "summary", "token_count", "parent", "at")
# Not one that a restore made, and that was never saved: it says what the restored one says.
IS_OWN_WORK = "(d.saved_at IS NOT NULL OR d.parent_id IS NULL)"
LINEAGE_COLUMNS = ("session", "depth", "summary", "at")


class ListedSession(TypedDict):
    session: int
    agent: Author
    workspace_id: str
    summary: str
    token_count: int
    parent: int | None
    at: Time


class ListedAncestor(TypedDict):
    session: int
    depth: int
    summary: str
    at: Time


class SessionFilters(TypedDict, total=False):
    """What `session list` takes, before validation."""

    workspace_id: Annotated[str, About("In this workspace.", OPTIONAL_NAME)] | None
    by: ByAgent | None
    parent: Annotated[Ref, About("Those that continue this one.")] | None
    implicit: Annotated[bool, Default(False), About("Also those that nobody saved or named.")]
    live: Annotated[
        bool, Default(False), About("The windows and subagents heard of within an hour."), UNDECLARED
    ]
    limit: Limit
    cursor: Cursor | None


# What the list can be ordered by: what an index has.
ORDERS = {"at": ["created_at"]}


def list_sessions(
    project_id: int, *, ordering: Ordering = None, **filters: Unpack[SessionFilters]
) -> Listing:
    """One page of the sessions that pass every filter but `live`, newest first, with the total count."""
    plan = in_order(_plan(project_id, filters), ordering, ORDERS)
    limit, cursor = filters.get("limit", 20), filters.get("cursor")
    page = SESSIONS.page(project_id, plan, limit=limit, cursor=cursor, names=LISTED)
    rows = [
        [
            *(row.id, row.agent, row.workspace_id, preview(row.summary), row.token_count, row.parent_id),
            format_time(row.created_at),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def list_lineage(
    project_id: int,
    named: str | int,
    *,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """A session, what it continues, and so on to the first: rows session, depth, summary, at."""
    limit, way = clean_limit(limit), way_of(ordering, "depth")
    after = way.read(cursor, int)[0] if cursor else None
    row = get_session(project_id, named, ("id", "created_at", "updated_at"))
    line = read_ancestors(project_id, row.id)
    in_order = line[::-1] if way.is_down else line
    behind = [each for each in in_order if after is None or way.follows(each.depth, after)]
    page = behind[:limit]
    return Listing(
        LINEAGE_COLUMNS,
        [[each.session_id, each.depth, preview(each.summary), format_time(each.at)] for each in page],
        next=way.cursor(page[-1].depth) if len(behind) > limit else None,
        extra={"total": len(line)},
        cursor_after=lambda count: way.cursor(page[count - 1].depth),
    )


def _plan(project_id: int, filters: SessionFilters) -> ListPlan:
    conditions: list[Condition] = []
    if workspace_id := filters.get("workspace_id"):
        name = clean_name(workspace_id, "workspace_id", at_most=WORKSPACE_LENGTH)
        conditions.append(("d.workspace_id = %s", [name]))
    if by := filters.get("by"):
        agent_id = find_vocabulary(project_id, agent=clean_name(by, "by", at_most=WORD_LENGTH)).agent_id
        if agent_id is None:
            return ListPlan(order=ORDER, is_empty=True)
        conditions.append(("d.agent_id = %s", [agent_id]))
    if parent := filters.get("parent"):
        conditions.append(("d.parent_id = %s", [get_named(project_id, parent).id]))
    if not filters.get("implicit"):
        conditions.append((f"NOT d.is_implicit AND {IS_OWN_WORK}", []))
    return ListPlan(conditions, order=ORDER, leads=not parent)
