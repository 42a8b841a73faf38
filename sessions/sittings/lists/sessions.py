"""Lists of sessions: by workspace, agent and parent, and the ancestors of one."""

from typing import Any

from typing_extensions import TypedDict

from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import WORD_LENGTH, clean_limit, clean_name
from ctxhub.core.kit.listing import Listing, make_cursor, preview, read_cursor
from ctxhub.core.kit.pages import Condition, ListPlan, Page
from ctxhub.core.toolbox.argument_types import Author, Time
from ctxhub.core.vocabulary.selectors.names import find_vocabulary
from sessions.sittings.models.session import WORKSPACE_LENGTH
from sessions.sittings.rows.sessions import LISTED, ORDER, SESSIONS, SessionRow
from sessions.sittings.selectors.calls import get_named
from sessions.sittings.selectors.sessions import get_session
from sessions.sittings.sql.sessions import read_ancestors

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


def find_sessions(
    project_id: int,
    *,
    workspace_id: str | None = None,
    by: str | None = None,
    parent: str | int | None = None,
    implicit: bool = False,
    limit: int = 20,
    cursor: str | None = None,
) -> Page[SessionRow]:
    """One page of the sessions that pass every filter, newest first, with the total count."""
    plan = _plan(project_id, workspace_id, by, parent, implicit)
    return SESSIONS.page(project_id, plan, limit=limit, cursor=cursor, names=LISTED)


def list_sessions(project_id: int, **query: Any) -> Listing:
    """The rows of `session list`. The arguments are those of `find_sessions`."""
    page = find_sessions(project_id, **query)
    rows = [
        [
            *(row.id, row.agent, row.workspace_id, preview(row.summary), row.token_count, row.parent_id),
            format_time(row.created_at),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def list_lineage(project_id: int, named: str | int, *, limit: int = 20, cursor: str | None = None) -> Listing:
    """A session, what it continues, and so on to the first: rows session, depth, summary, at."""
    limit = clean_limit(limit)
    start = read_cursor(cursor, int)[0] + 1 if cursor else 0
    row = get_session(project_id, named, ("id", "created_at", "updated_at"))
    line = read_ancestors(project_id, row.id)
    page = line[start : start + limit]
    return Listing(
        LINEAGE_COLUMNS,
        [[each.session_id, each.depth, preview(each.summary), format_time(each.at)] for each in page],
        next=make_cursor(page[-1].depth) if page and start + limit < len(line) else None,
        extra={"total": len(line)},
        cursor_after=lambda count: make_cursor(page[count - 1].depth),
    )


def _plan(
    project_id: int, workspace_id: str | None, by: str | None, parent: str | int | None, implicit: bool
) -> ListPlan:
    conditions: list[Condition] = []
    if workspace_id:
        name = clean_name(workspace_id, "workspace_id", at_most=WORKSPACE_LENGTH)
        conditions.append(("d.workspace_id = %s", [name]))
    if by:
        agent_id = find_vocabulary(project_id, agent=clean_name(by, "by", at_most=WORD_LENGTH)).agent_id
        if agent_id is None:
            return ListPlan(order=ORDER, is_empty=True)
        conditions.append(("d.agent_id = %s", [agent_id]))
    if parent not in (None, ""):
        conditions.append(("d.parent_id = %s", [get_named(project_id, str(parent)).id]))
    if not implicit:
        conditions.append((f"NOT d.is_implicit AND {IS_OWN_WORK}", []))
    return ListPlan(conditions, order=ORDER, leads=parent in (None, ""))
