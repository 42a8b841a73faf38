"""Lists the files of a session, each with its importance."""

from datetime import datetime
from typing import Annotated

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import COUNTED_TO, Listing, make_cursor, read_cursor, total_of
from ctxhub.core.toolbox.argument_types import About, Time, one_of
from sessions.sittings.inputs.resources import clean_sort
from sessions.sittings.models.resources import Mode
from sessions.sittings.selectors.calls import find_session_id
from sessions.sittings.sql import resources as rows
from sessions.sittings.sql.resources import ListedResource, Position
from tracking.importance import ImportanceFacts, importance_of
from tracking.models import AccessKind, ResourceType
from tracking.selectors.resources import TypeLabel

COLUMNS = (
    *("path", "type", "access", "count", "importance", "relevance", "included", "mode", "tokens"),
    *("compressed_tokens", "size", "hash", "modified", "at"),
)
KINDS: dict[str, tuple[type, ...]] = {
    "relevance": (int, int, datetime, int),
    "accessed": (int, datetime, int),
    "recent": (datetime, int),
}

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
    sort: str = "relevance",
    limit: int = 20,
    cursor: str | None = None,
) -> Listing:
    """The files of a session, which is the call's if none is named; without a session no rows.

    `sort`: the most relevant ones first (of equal ones those with the strongest access), those accessed most
    often, or those accessed last.
    """
    order, limit = clean_sort(sort), clean_limit(limit)
    after = _read_cursor(order, cursor) if cursor else None
    session_id = find_session_id(caller.in_session(session))
    if session_id is None:
        return Listing(COLUMNS, [], extra={"total": 0})
    found, positions = rows.list_resources(session_id, order, limit + 1, after)
    now = clock.now()

    def cursor_after(count: int) -> str:
        return make_cursor(order, *positions[count - 1])

    return Listing(
        columns=COLUMNS,
        rows=[list(_listed(row, now).values()) for row in found[:limit]],
        next=cursor_after(limit) if len(found) > limit else None,
        extra=total_of(rows.count_resources(session_id, COUNTED_TO + 1)),
        cursor_after=cursor_after,
    )


def _read_cursor(order: str, cursor: str) -> Position:
    """The position in a cursor of this order. Raises InvalidInput for one of another order."""
    name, *position = read_cursor(cursor, str, *KINDS[order])
    if name != order:
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
