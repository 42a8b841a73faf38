"""SQL of leases and their paths. Live leases are read from an index that ends in their sort order."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.events.selectors.stats import Counting
from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.holder import Holder
from ctxhub.core.kit.pages import Condition, all_of
from ctxhub.core.text.globs import head
from ctxhub.core.text.path_case import fold_path

LIVE = "l.project_id = %s AND l.released_at IS NULL AND l.expires_at > %s"
MOST_COUNTED = 10_000


@frozen
class LeaseRow:
    """A lease with its holder's name and its paths."""

    id: int
    by: str
    holder: Holder
    exclusive: bool
    reason: str
    created_at: datetime
    expires_at: datetime
    released_at: datetime | None
    paths: Sequence[str]

    @property
    def folded(self) -> str:
        return self.holder.agent

    @property
    def session(self) -> str:
        return self.holder.session

    def state(self, now: datetime) -> str:
        if self.released_at:
            return "released"
        return "live" if self.expires_at > now else "expired"


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
            SELECT l.id, l.agent_id, l.session, l.made_up, l.exclusive, l.created_at, l.expires_at
            FROM tracking_lease l
            WHERE {LIVE} AND +l.id > %s ORDER BY l.expires_at, l.id)
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
) -> list[LeaseRow]:
    """One page of live leases, soonest to expire first, after the key (expires_at, id)."""
    filters: list[Condition] = [(LIVE, [project_id, sql.stored_time(now)]), *conditions]
    if after:
        filters.append(("(l.expires_at, l.id) > (%s, %s)", [sql.stored_time(after[0]), after[1]]))
    where, values = all_of(filters)
    page = f"""
        WITH page AS MATERIALIZED (
            SELECT l.id FROM tracking_lease l WHERE {where} ORDER BY l.expires_at, l.id LIMIT %s)"""
    return _read(page, "page CROSS JOIN", "l.id = page.id", [*values, limit])


def read_leases(project_id: int, ids: Sequence[int]) -> list[LeaseRow]:
    if not ids:
        return []
    return _read("", "", *sql.by_ids("l", project_id, ids))


def live_leases_of(project_id: int, folded: str, now: datetime) -> list[LeaseRow]:
    return _read("", "", f"{LIVE} AND a.folded = %s", [project_id, sql.stored_time(now), folded])


def live_leases_with(project_id: int, folded: str, path: str, now: datetime) -> list[LeaseRow]:
    """Live leases of an agent that name this very path or glob."""
    named = "SELECT 1 FROM tracking_leasepath p WHERE p.lease_id = l.id AND p.pattern = %s"
    where = f"{LIVE} AND a.folded = %s AND EXISTS ({named})"
    return _read("", "", where, [project_id, sql.stored_time(now), folded, path])


def counting_live(project_id: int, now: datetime) -> Counting:
    """Returns the statement that counts the live leases, to 10,000."""
    live = f"SELECT 1 FROM tracking_lease l WHERE {LIVE} LIMIT {MOST_COUNTED}"
    return f"SELECT count(*) FROM ({live}) c", [project_id, sql.stored_time(now)]


def count_live_by_agent(project_id: int, folded: Sequence[str], now: datetime) -> dict[str, int]:
    among, values = sql.among("a.folded", folded)
    statement = f"""
        SELECT a.folded, count(*) FROM tracking_lease l JOIN core_agent a ON a.id = l.agent_id
        WHERE {LIVE} AND {among} GROUP BY a.folded"""
    return dict(sql.rows(statement, [project_id, sql.stored_time(now), *values]))


def count_live_by_session(project_id: int, now: datetime) -> dict[tuple[str, str], int]:
    """The number of live leases by case-folded agent and session."""
    statement = f"""
        SELECT a.folded, l.session, count(*) FROM tracking_lease l JOIN core_agent a ON a.id = l.agent_id
        WHERE {LIVE} AND l.session <> '' GROUP BY a.folded, l.session"""
    found = sql.rows(statement, [project_id, sql.stored_time(now)])
    return {(folded, session): count for folded, session, count in found}


# -- Writing ---------------------------------------------------------------------------------------


def insert_lease(
    project_id: int,
    agent_id: int,
    paths: Sequence[str],
    *,
    holder: Holder,
    exclusive: bool,
    reason: str,
    at: datetime,
    expires_at: datetime,
) -> int:
    [(lease_id,)] = sql.insert(
        "tracking_lease",
        ("project_id", "agent_id", "session", "made_up", "exclusive", "reason", "created_at", "expires_at"),
        [
            (
                *(project_id, agent_id, holder.session, holder.made_up, exclusive, reason),
                *(sql.stored_time(at), sql.stored_time(expires_at)),
            )
        ],
        "RETURNING id",
    )
    sql.insert(
        "tracking_leasepath",
        ("project_id", "lease_id", "pattern", "head"),
        [(project_id, lease_id, path, head(fold_path(path))) for path in paths],
    )
    return int(lease_id)


def extend_lease(lease_id: int, expires_at: datetime, reason: str) -> None:
    sql.execute(
        "UPDATE tracking_lease SET expires_at = %s, reason = %s WHERE id = %s",
        [sql.stored_time(expires_at), reason, lease_id],
    )


def set_session(lease_id: int, session: str) -> None:
    sql.execute("UPDATE tracking_lease SET session = %s WHERE id = %s", [session, lease_id])


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


def _read(before: str, source: str, where: str, values: Sequence[Any]) -> list[LeaseRow]:
    paths = f"SELECT {sql.json_list('p.pattern')} FROM tracking_leasepath p WHERE p.lease_id = l.id"
    statement = f"""
        {before}
        SELECT l.id, a.name, a.folded, l.session, l.made_up, l.exclusive, l.reason,
            l.created_at, l.expires_at, l.released_at, ({paths})
        FROM {source} tracking_lease l JOIN core_agent a ON a.id = l.agent_id
        WHERE {where} ORDER BY l.expires_at, l.id"""
    return [_row(values) for values in sql.rows(statement, values)]


def _row(values: Sequence[Any]) -> LeaseRow:
    lease_id, by, folded, session, made_up, exclusive, reason, *others = values
    created_at, expires_at, released_at, paths = others
    return LeaseRow(
        id=lease_id,
        by=by,
        holder=Holder(folded, session, bool(made_up)),
        exclusive=bool(exclusive),
        reason=reason,
        created_at=sql.read_time(created_at),
        expires_at=sql.read_time(expires_at),
        released_at=released_at and sql.read_time(released_at),
        paths=sorted(sql.read_json(paths) or ()),
    )
