"""The list of live sessions: the windows and subagents that were heard of within an hour."""

from datetime import datetime
from operator import attrgetter
from typing import Unpack

from typing_extensions import TypedDict

from ctxhub.core.accounts.live_sessions import live_sessions
from ctxhub.core.kit import clock
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import WORD_LENGTH, clean_limit, clean_name
from ctxhub.core.kit.listing import Listing, Row, page_in_memory
from ctxhub.core.kit.ordering import Ordering, sorted_by
from ctxhub.toolbox.argument_types import Author, Time
from sessions.sittings.contents import read_places
from sessions.sittings.queries import SessionFilters
from tracking.leases.rows import count_live_by_session

COLUMNS = ("session", "agent", "branch", "worktree", "leases", "last_heard")


class LiveSession(TypedDict):
    session: str
    agent: Author
    branch: str
    worktree: str
    leases: int
    last_heard: Time


@frozen
class Window:
    """A live session. `branch` and `worktree`: of its last save, "" without one."""

    session: str
    agent: str
    branch: str
    worktree: str
    leases: int
    heard_at: datetime


def list_live_sessions(
    project_id: int, *, ordering: Ordering = None, **filters: Unpack[SessionFilters]
) -> Listing:
    """Live sessions, heard of last first: rows session, agent, branch, worktree, leases, last_heard.

    `branch` and `worktree` are those of the last save under that name, empty without one. Raises InvalidInput
    for a filter that they do not have.
    """
    if others := [name for name in ("workspace_id", "parent", "implicit") if filters.get(name)]:
        raise InvalidInput(
            f"live lists windows, which have no {' and no '.join(others)}.",
            hint="Leave it out, or leave live out: by, limit and cursor go with it.",
        )
    by, limit, cursor = filters.get("by"), clean_limit(filters.get("limit", 20)), filters.get("cursor")
    name = clean_name(by, "by", at_most=WORD_LENGTH).casefold() if by else ""

    def row_of(one: Window) -> Row:
        return [*(one.session, one.agent, one.branch, one.worktree, one.leases), format_time(one.heard_at)]

    windows = sorted_by(find_windows(project_id, by=name), ordering, {"at": attrgetter("heard_at")})
    return page_in_memory(COLUMNS, windows, row_of, limit=limit, cursor=cursor, ordering=ordering)


def find_windows(project_id: int, *, by: str = "") -> list[Window]:
    """Up to 1,000 live sessions, heard of last first. `by`: only those of this case-folded agent."""
    found = live_sessions(project_id, by=by)
    places = read_places(project_id, [each.name for each in found])
    leases = count_live_by_session(project_id, clock.now()) if found else {}
    return [
        Window(
            each.name,
            each.agent,
            *places.get(each.name, ("", "")),
            leases.get((each.folded, each.name), 0),
            each.heard_at,
        )
        for each in found
    ]
