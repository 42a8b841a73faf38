"""Reads leases: live ones in lists, any by its id."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from typing_extensions import TypedDict

from ctxhub.core.accounts.speakers import Speaker
from ctxhub.core.events.counters import Counting
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import clean_limit, clean_name
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.ordering import Ordering, Way, way_of
from ctxhub.core.kit.pages import Condition
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.paths.case import Compared, as_written, compared_in
from ctxhub.core.paths.reading import reader_in
from ctxhub.core.text.globs import is_glob, overlap
from ctxhub.core.text.plurals import counted
from ctxhub.toolbox.argument_types import About, Time, one_of
from tracking.changes.queries import whole_numbers
from tracking.files.paths import clean_filter
from tracking.leases import rows
from tracking.leases.rows import HeldPath, LeaseRow

SHOWN_PATHS = 3
COLUMNS = ("lease_id", "paths", "by", "session", "exclusive", "reason", "expires", "fence")


class ListedLease(TypedDict):
    lease_id: int
    paths: list[str]
    by: str
    session: Annotated[str, About("That of the agent which holds it; empty: none.")]
    exclusive: bool
    reason: str
    expires: Time
    fence: Annotated[int, About("Grows with every lease of a project.")]


class Lease(ListedLease):
    state: Annotated[str, one_of("live", "expired", "released")]
    created: Time


def list_leases(
    project_id: int,
    *,
    path: str | None = None,
    by: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """Live leases, soonest to expire first: rows lease_id, paths, by, session, exclusive, reason, expires,
    fence.

    `path`, a path or a glob, selects leases that overlap it.
    """
    limit, now, way = clean_limit(limit), clock.now(), way_of(ordering, "expires")
    after = _read_cursor(cursor, way) if cursor else None
    conditions: list[Condition] = []
    if by:
        agent = "SELECT id FROM core_agent WHERE project_id = %s AND folded = %s"
        conditions.append((f"d.agent_id = ({agent})", [project_id, clean_name(by, "by").casefold()]))
    if path:
        globs = clean_filter(path, reader=reader_in(project_id))
        ids = {held.lease_id for held in find_overlapping(project_id, globs, now)}
        conditions.append(sql.among("d.id", sorted(ids)) if ids else ("1 = 0", []))
    found = rows.list_leases(project_id, now, conditions, limit + 1, after, way)

    def cursor_after(count: int) -> str:
        return way.cursor(found[count - 1].expires_at, found[count - 1].id)

    return Listing(
        columns=COLUMNS,
        rows=[[lease_item(row, full=False)[column] for column in COLUMNS] for row in found[:limit]],
        next=cursor_after(limit) if len(found) > limit else None,
        cursor_after=cursor_after,
    )


def get_lease(project_id: int, lease_id: int) -> LeaseRow:
    """One lease of the project, live or ended. Raises NotFound."""
    if found := rows.read_leases(project_id, whole_numbers([str(lease_id)])):
        return found[0]
    raise NotFound(
        f"There is no lease {shown(lease_id)}.",
        hint=f"{operation('file leases')} shows those that are live.",
    )


def find_overlapping(
    project_id: int, patterns: Sequence[str], now: datetime, compared: Compared | None = None
) -> list[HeldPath]:
    """Paths of live leases that overlap one of these patterns."""
    held = rows.held_paths(project_id, patterns, now)
    return overlapping(held, patterns, compared or compared_in(project_id)) if held else []


def find_in_the_way(
    project_id: int, speaker: Speaker, patterns: Sequence[str], now: datetime, compared: Compared
) -> list[HeldPath]:
    """Paths of live leases of other holders that overlap one of these patterns.

    Without those of sessions that the speaker may take over.
    """
    held = rows.held_paths(project_id, patterns, now, speaker.holder)
    in_the_way = [each for each in held if speaker.is_blocked_by(each.holder, each.since, now)]
    return overlapping(in_the_way, patterns, compared) if in_the_way else []


def overlapping(
    held: Sequence[HeldPath], patterns: Collection[str], compared: Compared = as_written
) -> list[HeldPath]:
    wanted = set(map(compared, patterns))
    return [each for each in held if _overlaps(compared(each.pattern), wanted)]


def _overlaps(held: str, patterns: Collection[str]) -> bool:
    """Whether a path overlaps one of these. Most are files, and those only need a comparison."""
    is_one_file = not is_glob(held)
    return held in patterns or any(
        overlap(held, pattern) for pattern in patterns if not is_one_file or is_glob(pattern)
    )


def leases_of_others(project_id: int, folded: str, now: datetime, *, limit: int = 50) -> list[LeaseRow]:
    """Live leases of other agents, soonest to expire first."""
    return rows.list_leases(
        project_id,
        now,
        [
            (
                "d.agent_id NOT IN (SELECT id FROM core_agent WHERE project_id = %s AND folded = %s)",
                [project_id, folded],
            )
        ],
        limit,
    )


def leases_on_paths(
    project_id: int, speaker: Speaker, paths: Sequence[str], now: datetime, compared: Compared | None = None
) -> list[LeaseRow]:
    """Live leases of other holders that overlap one of the paths, soonest to expire first."""
    held = find_in_the_way(project_id, speaker, paths, now, compared or compared_in(project_id))
    return rows.read_leases(project_id, sorted({each.lease_id for each in held}))


def leased_paths(project_id: int, speaker: Speaker, now: datetime) -> list[str]:
    """The paths and globs of the live leases of a holder, and of those that are the same."""
    held = rows.live_leases_of(project_id, speaker.folded, now)
    return [path for lease in held if speaker.holder.is_same(lease.holder) for path in lease.paths]


def held_by_own_session(speaker: Speaker, lease: LeaseRow, now: datetime) -> str:
    """Says which other session of the agent holds a lease, and when it was last heard of."""
    more = len(lease.paths) - SHOWN_PATHS
    paths = ", ".join(lease.paths[:SHOWN_PATHS]) + (f" and {more} more" if more > 0 else "")
    return (
        f"lease:{lease.id} ({paths}) is held by another session of yours"
        f" ({said_of_session(speaker, lease, now)}, until {format_time(lease.expires_at)[11:16]}Z)."
    )


def said_of_session(speaker: Speaker, lease: LeaseRow, now: datetime) -> str:
    """The session that holds a lease of the speaker's agent, and when it was last heard of."""
    silence = now - speaker.heard_of(lease.session, lease.created_at)
    return f"{lease.session}, last heard of {counted(int(silence.total_seconds() // 60), 'minutes')} ago"


def lease_item(row: LeaseRow, *, full: bool = True) -> dict[str, Any]:
    """A lease as clients see it. Its id is its fencing token: ids only grow."""
    return dict(
        Lease(
            lease_id=row.id,
            paths=list(row.paths),
            by=row.agent,
            session=row.session,
            exclusive=row.exclusive,
            reason=preview(row.reason, full=full),
            state=row.state(clock.now()),
            created=format_time(row.created_at),
            expires=format_time(row.expires_at),
            fence=row.id,
        )
    )


def open_leases(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """Items by name (the id in a ref such as `lease:5`), ended leases included."""
    found = {row.id: row for row in rows.read_leases(project_id, whole_numbers(names))}
    items = {name: found.get(number) for name in names for number in whole_numbers([name])}
    return {name: _without_empty(lease_item(row, full=full)) for name, row in items.items() if row}


def counting_live(project_id: int) -> Counting:
    return rows.counting_live(project_id, clock.now())


def count_by_agent(project_id: int, folded: Sequence[str]) -> Mapping[str, int]:
    return rows.count_live_by_agent(project_id, folded, clock.now())


def _without_empty(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != "lease_id" and value != ""}


def _read_cursor(cursor: str, way: Way) -> tuple[datetime, int]:
    expires_at, row_id = way.read(cursor, datetime, int)
    return expires_at, row_id
