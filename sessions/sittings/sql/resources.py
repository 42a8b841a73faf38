"""SQL of the files of a session: count an access, and read a page of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from tracking.inputs.contents import Access
from tracking.models import AccessKind

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
    session_id: int, order: str, limit: int, after: Position | None
) -> tuple[list[ListedResource], list[Position]]:
    """One page of a session's files, and the position of each."""
    columns = ORDERS[order]
    behind, values = _behind(columns, after) if after else ("", [])
    ordered = ", ".join(f"{column} DESC" for column in columns)
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
    rows = [_listed(row) for row in found]
    return rows, [_position(order, row) for row in rows]


def count_resources(session_id: int, at_most: int) -> int:
    """How many files a session has, counted up to `at_most`."""
    [(count,)] = sql.rows(
        "SELECT count(*) FROM ("
        "SELECT 1 FROM agent_sessions_sessionresource WHERE session_id = %s LIMIT %s) c",
        [session_id, at_most],
    )
    return int(count)


def _behind(columns: Sequence[str], after: Position) -> tuple[str, list[Any]]:
    values = [sql.stored_time(value) if isinstance(value, datetime) else value for value in after]
    return f"AND ({', '.join(columns)}) < ({sql.marks(values)})", values


def _listed(found: Sequence[Any]) -> ListedResource:
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
