"""Lists the accesses of agents to files."""

from datetime import datetime

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.selectors.agents import author_id
from ctxhub.core.events.selectors.events import moment_of
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import clean_limit, clean_moment
from ctxhub.core.kit.listing import COUNTED_TO, Listing, make_cursor, read_cursor, total_of
from ctxhub.core.paths.reading import reader_in
from ctxhub.core.toolbox.argument_types import Author, Time
from sessions.sittings.inputs.resources import clean_access
from sessions.sittings.selectors.calls import get_named
from sessions.sittings.selectors.resources import AccessLabel
from sessions.sittings.sql import accesses as rows
from sessions.sittings.sql.accesses import AccessQuery, AccessRow
from tracking.models import AccessKind
from tracking.selectors.paths import clean_file
from tracking.sql.resources import find_resources

COLUMNS = ("path", "access", "agent", "session", "at")


class ListedAccess(TypedDict):
    path: str
    access: AccessLabel
    agent: Author
    session: int
    at: Time


def list_accesses(
    caller: Caller,
    *,
    path: str | None = None,
    session: str | None = None,
    access: str | int | None = None,
    by: str | None = None,
    since: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> Listing:
    """Accesses that pass every filter, newest first: rows path, access, agent, session, at.

    An unknown path has no accesses; an unknown session is not found.
    """
    limit = clean_limit(limit)
    after = _read_cursor(cursor) if cursor else None
    query = _query(caller.project_id, path=path, session=session, access=access, by=by, since=since)
    if query is None:
        return Listing(COLUMNS, [], extra={"total": 0})
    found = rows.list_accesses(query, limit + 1, after)

    def cursor_after(count: int) -> str:
        return make_cursor(found[count - 1].at, found[count - 1].id)

    return Listing(
        columns=COLUMNS,
        rows=[list(_listed(row).values()) for row in found[:limit]],
        next=cursor_after(limit) if len(found) > limit else None,
        extra=total_of(rows.count_accesses(query, COUNTED_TO + 1)),
        cursor_after=cursor_after,
    )


def _query(
    project_id: int,
    *,
    path: str | None,
    session: str | None,
    access: str | int | None,
    by: str | None,
    since: str | None,
) -> AccessQuery | None:
    """The filters; None if they name a file that does not exist."""
    kind = clean_access(access).value if access not in (None, "") else None
    moment = moment_of(project_id, clean_moment(since, "since"))
    file = clean_file(path, reader=reader_in(project_id)) if path else None
    session_id = get_named(project_id, session).id if session else None
    ids = find_resources(project_id, [file]) if file else {}
    if file and not ids:
        return None
    agent_id = author_id(project_id, by) if by else None
    return AccessQuery(project_id, ids[file] if file else None, session_id, agent_id, kind, moment)


def _read_cursor(cursor: str) -> tuple[datetime, int]:
    at, row_id = read_cursor(cursor, datetime, int)
    return at, row_id


def _listed(row: AccessRow) -> ListedAccess:
    return ListedAccess(
        path=row.path,
        access=str(AccessKind(row.access).label),
        agent=row.agent,
        session=row.session_id,
        at=format_time(row.at),
    )
