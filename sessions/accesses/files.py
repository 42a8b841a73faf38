"""The files of a session: accesses counted, and a list with the importance of each."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import COUNTED_TO, Listing, make_cursor, read_cursor, total_of
from ctxhub.core.kit.ordering import NEWEST_FIRST, Ordering, Way, clean_one_field
from ctxhub.toolbox.argument_types import About, Time, one_of
from sessions.accesses.inputs import clean_sort
from sessions.accesses.models import Mode
from sessions.windows.calls import find_session_id
from tracking.files.importance import ImportanceFacts, importance_of
from tracking.files.inputs import Access
from tracking.files.queries import TypeLabel
from tracking.models import AccessKind, ResourceType

# When a file was last accessed in the session; one that was only saved there: when it was.
LAST = "coalesce(s.last_accessed, s.created_at)"
# The strongest access in the session; 0 for a file that was only saved there.
BEST = "coalesce(s.best_access, 0)"
ORDERS: dict[str, tuple[str, ...]] = {
    "relevance": ("s.relevance", BEST, LAST, "s.id"),
    "accessed": ("s.access_count", LAST, "s.id"),
    "recent": (LAST, "s.id"),
}
Position = tuple[Any, ...]
"""The values of an order's columns in the last row of a page."""


@frozen
class ListedResource:
    """A file of a session: what the session knows of it, then what the project knows."""

    id: int
    relevance: int
    included: bool
    mode: int | None
    compressed_tokens: int | None
    count: int
    session_access: int | None
    modified: bool
    at: datetime
    path: str
    type: int
    size: int | None
    tokens: int | None
    hash: str
    mark: int | None
    access_count: int
    last_accessed: datetime | None
    best_access: int | None
    incoming_strength: int


INCOMING_STRENGTH = """
    (SELECT coalesce(sum(d.strength), 0) FROM agent_sessions_resourcedependency d WHERE d.target_id = {})"""
SELECTED = f"""
    s.id, s.relevance, s.included, s.mode, s.compressed_tokens, s.access_count, s.best_access, s.modified,
    {LAST},
    r.path, r.type, r.size, r.tokens, r.hash, r.mark, r.access_count, r.last_accessed, r.best_access,
    {INCOMING_STRENGTH.format("r.id")}"""


@frozen
class Counted:
    """`modified`: the file was edited in the session. `incoming_strength`: of all dependencies on it."""

    modified: bool
    incoming_strength: int


def count_access(
    project_id: int, session_id: int, resource_id: int, access: Access, hash_: str | None
) -> Counted:
    """Count an access in a session. A file that is new there gets a row; of its accesses the best stays.

    `hash_`: the file's at this access; None: the last one known stays.
    """
    moment, is_edit = sql.stored_time(access.at), access.kind == AccessKind.EDITED
    columns = (
        *("project_id", "session_id", "resource_id", "relevance", "included", "access_count"),
        *("last_accessed", "best_access", "modified", "is_saved", "hash", "created_at"),
    )
    # Neither engine has the other's function for the greater of two values.
    best = "CASE WHEN s.best_access > excluded.best_access THEN s.best_access ELSE excluded.best_access END"
    [(modified, strength)] = sql.insert(
        "agent_sessions_sessionresource AS s",
        columns,
        [
            (
                *(project_id, session_id, resource_id, 0, False, 1),
                *(moment, access.kind.value, is_edit, False, hash_ or "", moment),
            )
        ],
        f"""
        ON CONFLICT (session_id, resource_id) DO UPDATE
        SET access_count = s.access_count + 1, last_accessed = excluded.last_accessed, best_access = {best},
            modified = s.modified OR excluded.modified,
            hash = CASE WHEN excluded.hash = '' THEN s.hash ELSE excluded.hash END
        RETURNING modified, {INCOMING_STRENGTH.format("resource_id")}""",
    )
    return Counted(bool(modified), int(strength))


def insert_access(
    project_id: int, *, session_id: int, resource_id: int, agent_id: int, access: Access
) -> None:
    sql.insert(
        "agent_sessions_access",
        ("project_id", "resource_id", "session_id", "agent_id", "access", "created_at"),
        [(project_id, resource_id, session_id, agent_id, access.kind.value, sql.stored_time(access.at))],
    )


def list_resources(
    session_id: int, order: str, limit: int, after: Position | None, way: Way = NEWEST_FIRST
) -> tuple[list[ListedResource], list[Position]]:
    """One page of a session's files, and the position of each; `way`: the most or the least first."""
    columns = ORDERS[order]
    behind, values = _behind(columns, after, way) if after else ("", [])
    ordered = way.of(*columns)
    found = sql.rows(
        f"""
        WITH page AS MATERIALIZED (
            SELECT s.id FROM agent_sessions_sessionresource s WHERE s.session_id = %s {behind}
            ORDER BY {ordered} LIMIT %s)
        SELECT {SELECTED}
        FROM page CROSS JOIN agent_sessions_sessionresource s JOIN tracking_resource r ON r.id = s.resource_id
        WHERE s.id = page.id ORDER BY {ordered}""",
        [session_id, *values, limit],
    )
    rows = [_resource(row) for row in found]
    return rows, [_position(order, row) for row in rows]


def count_resources(session_id: int, at_most: int) -> int:
    """How many files a session has, counted up to `at_most`."""
    [(count,)] = sql.rows(
        "SELECT count(*) FROM ("
        "SELECT 1 FROM agent_sessions_sessionresource WHERE session_id = %s LIMIT %s) c",
        [session_id, at_most],
    )
    return int(count)


def _behind(columns: Sequence[str], after: Position, way: Way) -> tuple[str, list[Any]]:
    values = [sql.stored_time(value) if isinstance(value, datetime) else value for value in after]
    return f"AND ({', '.join(columns)}) {way.beyond} ({sql.marks(values)})", values


def _resource(found: Sequence[Any]) -> ListedResource:
    row = ListedResource(*found)
    return replace(
        row,
        included=bool(row.included),
        modified=bool(row.modified),
        at=sql.read_time(row.at),
        last_accessed=sql.read_time(row.last_accessed) if row.last_accessed else None,
        incoming_strength=int(row.incoming_strength),
    )


def _position(order: str, row: ListedResource) -> Position:
    first: dict[str, tuple[int, ...]] = {
        "relevance": (row.relevance, row.session_access or 0),
        "accessed": (row.count,),
        "recent": (),
    }
    return (*first[order], row.at, row.id)


COLUMNS = (
    *("path", "type", "access", "count", "importance", "relevance", "included", "mode", "tokens"),
    *("compressed_tokens", "size", "hash", "modified", "at"),
)
KINDS: dict[str, tuple[type, ...]] = {
    "relevance": (int, int, datetime, int),
    "accessed": (int, datetime, int),
    "recent": (datetime, int),
}

SORTED_BY = {"relevance": "relevance", "count": "accessed", "at": "recent"}
AccessLabel = Annotated[str, one_of(*AccessKind.labels)]


class SessionResource(TypedDict):
    path: str
    type: TypeLabel
    access: Annotated[AccessLabel | None, About("The strongest one in the session.")]
    count: Annotated[int, About("How often it was accessed in the session.")]
    importance: Annotated[int, About("0 to 100, now.")]
    relevance: Annotated[int, About("0 to 100, when the files were last prioritised.")]
    included: Annotated[bool, About("Whether it was included then.")]
    mode: Annotated[str, one_of(*Mode.labels)] | None
    tokens: int | None
    compressed_tokens: int | None
    size: Annotated[int | None, About("In bytes.")]
    hash: str
    modified: Annotated[bool, About("Whether it was edited in the session.")]
    at: Annotated[Time, About("The last access in the session.")]


def list_session_resources(
    caller: Caller,
    *,
    session: str | None = None,
    sort: str = "",
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """The files of a session, which is the call's if none is named; without a session no rows.

    `sort`: the most relevant ones first, as without it (of equal ones those with the strongest access),
    those accessed most often, or those accessed last. `ordering`: by one of these fields, up or down.
    """
    if sort and ordering:
        raise InvalidInput("ordering and sort exclude one another.")
    order, limit, way = clean_sort(sort or "relevance"), clean_limit(limit), NEWEST_FIRST
    if word := clean_one_field(ordering, SORTED_BY):
        order, way = SORTED_BY[word.removeprefix("-")], Way(word.startswith("-"), word)
    after = _read_cursor(way.mark or order, order, cursor) if cursor else None
    session_id = find_session_id(caller.in_session(session))
    if session_id is None:
        return Listing(COLUMNS, [], extra={"total": 0})
    found, positions = list_resources(session_id, order, limit + 1, after, way)
    now = clock.now()

    def cursor_after(count: int) -> str:
        return make_cursor(way.mark or order, *positions[count - 1])

    return Listing(
        columns=COLUMNS,
        rows=[list(_listed(row, now).values()) for row in found[:limit]],
        next=cursor_after(limit) if len(found) > limit else None,
        extra=total_of(count_resources(session_id, COUNTED_TO + 1)),
        cursor_after=cursor_after,
    )


def _read_cursor(mark: str, order: str, cursor: str) -> Position:
    """The position in a cursor of this order. Raises InvalidInput for one of another order."""
    name, *position = read_cursor(cursor, str, *KINDS[order])
    if name != mark:
        raise InvalidInput("cursor is of another order.", hint="Pass it with the `sort` it came from.")
    return tuple(position)


def _listed(row: ListedResource, now: datetime) -> SessionResource:
    return SessionResource(
        path=row.path,
        type=str(ResourceType(row.type).label),
        access=str(AccessKind(row.session_access).label) if row.session_access else None,
        count=row.count,
        importance=importance_of(_facts(row), now).total,
        relevance=row.relevance,
        included=row.included,
        mode=str(Mode(row.mode).label) if row.mode else None,
        tokens=row.tokens,
        compressed_tokens=row.compressed_tokens,
        size=row.size,
        hash=row.hash,
        modified=row.modified,
        at=format_time(row.at),
    )


def _facts(row: ListedResource) -> ImportanceFacts:
    return ImportanceFacts(
        last_accessed=row.last_accessed,
        access_count=row.access_count,
        best_access=row.best_access,
        is_modified=row.modified,
        incoming_strength=row.incoming_strength,
        type=row.type,
        mark=row.mark,
    )
