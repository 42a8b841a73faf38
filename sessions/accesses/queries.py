"""Lists the accesses of agents to files, newest first."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Unpack

from django.db import connection

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.agents import author_id
from ctxhub.core.events.log import moment_of
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit, clean_moment
from ctxhub.core.kit.limits import OPTIONAL_PATH
from ctxhub.core.kit.listing import COUNTED_TO, Listing, total_of
from ctxhub.core.kit.ordering import NEWEST_FIRST, Ordering, Way, way_of
from ctxhub.core.kit.pages import Condition
from ctxhub.core.paths.reading import reader_in
from ctxhub.toolbox.argument_types import (
    NAMES_FILES,
    SINCE,
    About,
    Author,
    ByAgent,
    Cursor,
    Limit,
    Ref,
    Time,
    Word,
)
from sessions.accesses.files import AccessLabel
from sessions.accesses.inputs import clean_access
from sessions.windows.calls import get_named
from tracking.files.paths import clean_file
from tracking.files.rows import find_resources
from tracking.models import AccessKind


@frozen
class AccessRow:
    id: int
    path: str
    access: int
    agent: str
    session_id: int
    at: datetime


@frozen
class AccessQuery:
    """The filters of a list. The first given of file, session, agent and project has an index of its own."""

    project_id: int
    resource_id: int | None = None
    session_id: int | None = None
    agent_id: int | None = None
    access: int | None = None
    since: datetime | None = None

    def conditions(self) -> list[Condition]:
        # A file and a session belong to one project. The plus keeps SQLite, which has no statistics, off the
        # other indexes.
        leading = [
            ("resource_id", self.resource_id),
            ("session_id", self.session_id),
            ("agent_id", self.agent_id),
            ("project_id", None if self.resource_id or self.session_id else self.project_id),
        ]
        given = [(column, value) for column, value in leading if value is not None]
        plus = "+" if connection.vendor == "sqlite" else ""
        found: list[Condition] = [
            (f"{plus if n else ''}a.{column} = %s", [value]) for n, (column, value) in enumerate(given)
        ]
        if self.access is not None:
            found.append(("a.access = %s", [self.access]))
        if self.since is not None:
            found.append(("a.created_at >= %s", [sql.stored_time(self.since)]))
        return found


def read_accesses(
    query: AccessQuery, limit: int, after: tuple[datetime, int] | None, way: Way = NEWEST_FIRST
) -> list[AccessRow]:
    """One page, newest first unless `way` says so, after the key (at, id)."""
    conditions = query.conditions()
    order = way.of("a.created_at", "a.id")
    if after:
        position = [sql.stored_time(after[0]), after[1]]
        conditions.append((f"(a.created_at, a.id) {way.beyond} (%s, %s)", position))
    where, values = _joined(conditions)
    statement = f"""
        WITH page AS MATERIALIZED (
            SELECT a.id FROM agent_sessions_access a WHERE {where}
            ORDER BY {order} LIMIT %s)
        SELECT a.id, r.path, a.access, coalesce(g.name, 'system'), a.session_id, a.created_at
        FROM page CROSS JOIN agent_sessions_access a
        JOIN tracking_resource r ON r.id = a.resource_id LEFT JOIN core_agent g ON g.id = a.agent_id
        WHERE a.id = page.id ORDER BY {order}"""
    return [
        AccessRow(row_id, path, access, agent, session_id, sql.read_time(at))
        for row_id, path, access, agent, session_id, at in sql.rows(statement, [*values, limit])
    ]


def count_accesses(query: AccessQuery, at_most: int) -> int:
    """How many accesses a list has, counted up to `at_most`."""
    where, values = _joined(query.conditions())
    [(count,)] = sql.rows(
        f"SELECT count(*) FROM (SELECT 1 FROM agent_sessions_access a WHERE {where} LIMIT %s) c",
        [*values, at_most],
    )
    return int(count)


def _joined(conditions: Sequence[Condition]) -> tuple[str, list[Any]]:
    values = [value for _, some in conditions for value in some]
    return " AND ".join(text for text, _ in conditions), values


COLUMNS = ("path", "access", "agent", "session", "at")


class ListedAccess(TypedDict):
    path: str
    access: AccessLabel
    agent: Author
    session: int
    at: Time


class AccessFilters(TypedDict, total=False):
    """What `session accesses` takes, before validation."""

    path: Annotated[str, NAMES_FILES, About("Of this file.", OPTIONAL_PATH)] | None
    session: Annotated[Ref, About("In this session: its id or name.")] | None
    access: Annotated[Word, About("Only such accesses.", {"enum": AccessKind.labels})] | None
    by: ByAgent | None
    since: Annotated[str, About(f"Made since. {SINCE}")] | None
    limit: Limit
    cursor: Cursor | None


def list_accesses(caller: Caller, *, ordering: Ordering = None, **filters: Unpack[AccessFilters]) -> Listing:
    """Accesses that pass every filter, newest first: rows path, access, agent, session, at.

    An unknown path has no accesses; an unknown session is not found.
    """
    limit, way = clean_limit(filters.get("limit", 20)), way_of(ordering, "-at")
    after = _read_cursor(cursor, way) if (cursor := filters.get("cursor")) else None
    query = _query(caller.project_id, filters)
    if query is None:
        return Listing(COLUMNS, [], extra={"total": 0})
    found = read_accesses(query, limit + 1, after, way)

    def cursor_after(count: int) -> str:
        return way.cursor(found[count - 1].at, found[count - 1].id)

    return Listing(
        columns=COLUMNS,
        rows=[list(_listed(row).values()) for row in found[:limit]],
        next=cursor_after(limit) if len(found) > limit else None,
        extra=total_of(count_accesses(query, COUNTED_TO + 1)),
        cursor_after=cursor_after,
    )


def _query(project_id: int, filters: AccessFilters) -> AccessQuery | None:
    """The filters; None if they name a file that does not exist."""
    kind = clean_access(access).value if (access := filters.get("access")) else None
    moment = moment_of(project_id, clean_moment(filters.get("since"), "since"))
    file = clean_file(path, reader=reader_in(project_id)) if (path := filters.get("path")) else None
    session_id = get_named(project_id, session).id if (session := filters.get("session")) else None
    ids = find_resources(project_id, [file]) if file else {}
    if file and not ids:
        return None
    agent_id = author_id(project_id, by) if (by := filters.get("by")) else None
    return AccessQuery(project_id, ids[file] if file else None, session_id, agent_id, kind, moment)


def _read_cursor(cursor: str, way: Way) -> tuple[datetime, int]:
    at, row_id = way.read(cursor, datetime, int)
    return at, row_id


def _listed(row: AccessRow) -> ListedAccess:
    return ListedAccess(
        path=row.path,
        access=str(AccessKind(row.access).label),
        agent=row.agent,
        session=row.session_id,
        at=format_time(row.at),
    )
