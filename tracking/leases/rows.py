"""Rows of leases, their table and paths. Live ones are read from an index that ends in their sort order."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.events.counters import Counting
from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.holder import Holder
from ctxhub.core.kit.ordering import IN_SEQUENCE, Way
from ctxhub.core.kit.pages import Condition, all_of
from ctxhub.core.kit.rows import AuthoredRow, Computed, Table
from ctxhub.core.text.globs import head
from ctxhub.core.text.path_case import fold_path
from tracking.models import Lease

LIVE = "d.project_id = %s AND d.released_at IS NULL AND d.expires_at > %s"
MOST_COUNTED = 10_000


@frozen(kw_only=True)
class LeaseRow(AuthoredRow):
    """A lease with its paths; `agent` holds it."""

    agent_id: int
    session: str = ""
    made_up: bool = False
    exclusive: bool = True
    reason: str = ""
    created_at: datetime
    expires_at: datetime
    released_at: datetime | None = None
    released_by_id: int | None = None
    paths: Sequence[str] = ()

    @property
    def holder(self) -> Holder:
        return Holder(self.folded, self.session, self.made_up)

    @property
    def folded(self) -> str:
        return self.agent.casefold()

    def state(self, now: datetime) -> str:
        if self.released_at:
            return "released"
        return "live" if self.expires_at > now else "expired"


def _paths() -> str:
    return f"(SELECT {sql.json_list('p.pattern')} FROM tracking_leasepath p WHERE p.lease_id = d.id)"


def _read_paths(paths: Any) -> list[str]:
    return sorted(sql.read_json(paths) or ())


LEASES = Table(Lease, LeaseRow, computed={"paths": Computed(_paths, read=_read_paths)})


@frozen
class HeldPath:
    """A path or glob of a live lease. `since`: when it was taken."""

    lease_id: int
    pattern: str
    holder: Holder
    exclusive: bool
    since: datetime


# -- Reading ---------------------------------------------------------------------------------------


def held_paths(
    project_id: int, patterns: Collection[str], now: datetime, but: Holder | None = None, after: int = 0
) -> list[HeldPath]:
    """Paths of live leases that may overlap these patterns, soonest to expire first.

    `but`: without those of this holder, and of others that are surely the same. `after`: only leases with a
    greater id.
    """
    conditions: list[Condition] = [("p.lease_id = l.id AND a.id = l.agent_id", [])]
    heads = {head(fold_path(pattern)) for pattern in patterns}
    if "" not in heads:
        among, head_values = sql.among("p.head", sorted(heads))
        conditions.append((f"(p.head = '' OR {among})", head_values))
    if but:
        conditions.append(_not_held_by(but))
    where, values = all_of(conditions)
    # CROSS JOIN and the + (no index of ids) fix the plan: few leases are live, however many have ended.
    statement = f"""
        WITH live AS MATERIALIZED (
            SELECT d.id, d.agent_id, d.session, d.made_up, d.exclusive, d.created_at, d.expires_at
            FROM tracking_lease d
            WHERE {LIVE} AND +d.id > %s ORDER BY d.expires_at, d.id)
        SELECT l.id, p.pattern, a.folded, l.session, l.made_up, l.exclusive, l.created_at
        FROM live l CROSS JOIN tracking_leasepath p CROSS JOIN core_agent a
        WHERE {where} ORDER BY l.expires_at, l.id, p.id"""
    found = sql.rows(statement, [project_id, sql.stored_time(now), after, *values])
    return [
        HeldPath(
            lease_id, pattern, Holder(folded, session, bool(made_up)), bool(exclusive), sql.read_time(since)
        )
        for lease_id, pattern, folded, session, made_up, exclusive, since in found
    ]


def list_leases(
    project_id: int,
    now: datetime,
    conditions: Sequence[Condition],
    limit: int,
    after: tuple[datetime, int] | None = None,
    way: Way = IN_SEQUENCE,
) -> list[LeaseRow]:
    """One page of live leases, soonest to expire first unless `way` says so, after (expires_at, id)."""
    filters: list[Condition] = [(LIVE, [project_id, sql.stored_time(now)]), *conditions]
    if after:
        position = [sql.stored_time(after[0]), after[1]]
        filters.append((f"(d.expires_at, d.id) {way.beyond} (%s, %s)", position))
    where, values = all_of(filters)
    page = f"""
        WITH page AS MATERIALIZED (
            SELECT d.id FROM tracking_lease d WHERE {where}
            ORDER BY {way.of("d.expires_at", "d.id")} LIMIT %s)"""
    return _read(("d.id = page.id", [*values, limit]), page, "page CROSS JOIN", way)


def read_leases(project_id: int, ids: Sequence[int]) -> list[LeaseRow]:
    """Leases by their ids, soonest to expire first."""
    return _read(sql.by_ids("d", project_id, ids)) if ids else []


def live_leases_of(project_id: int, folded: str, now: datetime) -> list[LeaseRow]:
    return _read((f"{LIVE} AND agent.folded = %s", [project_id, sql.stored_time(now), folded]))


def live_leases_with(project_id: int, folded: str, path: str, now: datetime) -> list[LeaseRow]:
    """Live leases of an agent that name this very path or glob."""
    named = "SELECT 1 FROM tracking_leasepath p WHERE p.lease_id = d.id AND p.pattern = %s"
    where = f"{LIVE} AND agent.folded = %s AND EXISTS ({named})"
    return _read((where, [project_id, sql.stored_time(now), folded, path]))


def counting_live(project_id: int, now: datetime) -> Counting:
    """Returns the statement that counts the live leases, to 10,000."""
    live = f"SELECT 1 FROM tracking_lease d WHERE {LIVE} LIMIT {MOST_COUNTED}"
    return f"SELECT count(*) FROM ({live}) c", [project_id, sql.stored_time(now)]


def count_live_by_agent(project_id: int, folded: Sequence[str], now: datetime) -> dict[str, int]:
    among, values = sql.among("a.folded", folded)
    statement = f"""
        SELECT a.folded, count(*) FROM tracking_lease d JOIN core_agent a ON a.id = d.agent_id
        WHERE {LIVE} AND {among} GROUP BY a.folded"""
    return dict(sql.rows(statement, [project_id, sql.stored_time(now), *values]))


def count_live_by_session(project_id: int, now: datetime) -> dict[tuple[str, str], int]:
    """The number of live leases by case-folded agent and session."""
    statement = f"""
        SELECT a.folded, d.session, count(*) FROM tracking_lease d JOIN core_agent a ON a.id = d.agent_id
        WHERE {LIVE} AND d.session <> '' GROUP BY a.folded, d.session"""
    found = sql.rows(statement, [project_id, sql.stored_time(now)])
    return {(folded, session): count for folded, session, count in found}


# -- Writing ---------------------------------------------------------------------------------------


def insert_lease(project_id: int, new: LeaseRow) -> LeaseRow:
    [lease] = LEASES.insert(project_id, [new])
    records = [(project_id, lease.id, path, head(fold_path(path))) for path in lease.paths]
    sql.insert("tracking_leasepath", ("project_id", "lease_id", "pattern", "head"), records)
    return lease


def end_leases(ids: Sequence[int], agent_id: int, at: datetime) -> None:
    among, values = sql.among("id", ids)
    sql.execute(
        f"UPDATE tracking_lease SET released_at = %s, released_by_id = %s WHERE {among}",
        [sql.stored_time(at), agent_id, *values],
    )


def delete_leases(project_id: int, before: datetime, at_most: int) -> int:
    """Remove leases that expired or were released before a time. Returns how many."""
    moment = sql.stored_time(before)
    ended = (
        "released_at IS NULL AND expires_at < %s ORDER BY expires_at",
        "released_at IS NOT NULL AND released_at < %s ORDER BY released_at",
    )
    branches = [
        f"SELECT id FROM (SELECT id FROM tracking_lease WHERE project_id = %s AND {each} LIMIT %s) arm{n}"
        for n, each in enumerate(ended)
    ]
    found = sql.rows(" UNION ALL ".join(branches), [project_id, moment, at_most] * len(branches))
    if ids := [row_id for (row_id,) in found]:
        for table, column in (("tracking_leasepath", "lease_id"), ("tracking_lease", "id")):
            among, values = sql.among(column, ids)
            sql.execute(f"DELETE FROM {table} WHERE {among}", values)
    return len(ids)


# -- Pieces ----------------------------------------------------------------------------------------


def _not_held_by(holder: Holder) -> Condition:
    if not holder.is_named:
        return "a.folded <> %s", [holder.agent]
    return (
        "(a.folded <> %s OR l.session NOT IN ('', %s) AND l.made_up = %s)",
        [holder.agent, holder.session, False],
    )


def _read(where: Condition, before: str = "", source: str = "", way: Way = IN_SEQUENCE) -> list[LeaseRow]:
    condition, values = where
    selected = LEASES.selected(source=source)
    order = way.of("d.expires_at", "d.id")
    statement = f"{before} SELECT {selected} WHERE {condition} ORDER BY {order}"
    return LEASES.as_rows(sql.rows(statement, values))
