"""Reads the live leases that wait for a person, in all of some projects, by their holders."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen

# Live leases of some projects. The first condition is said as in the index tracking_lease_live.
_LIVE = "l.released_at IS NULL AND l.expires_at > %s AND {among}"


@frozen
class Holder:
    """An agent and its live leases. `seen_at`: when it was last seen, else when it took the first of them.

    `refused`: how often others were refused because of them. `holders`: how many agents there are like it.
    """

    project_id: int
    agent_id: int
    name: str
    seen_at: datetime
    leases: int
    refused: int
    holders: int


def read_silent_holders(
    project_ids: Sequence[int], silent_since: datetime, now: datetime, limit: int
) -> list[Holder]:
    """The holders of live leases that were not seen since; those in the way of others first."""
    among, values = sql.among("l.project_id", project_ids)
    refused = "SELECT sum(r.count) FROM core_refusal r WHERE r.project_id = l.project_id AND r.ref = {ref}"
    ref = "'lease:' || l.id"
    found = sql.rows(
        f"""
        WITH held AS (
            SELECT l.project_id, l.agent_id, a.name, coalesce(a.last_seen_at, l.created_at) AS seen_at,
                coalesce(({refused.format(ref=ref)}), 0) AS refused
            FROM tracking_lease l JOIN core_agent a ON a.id = l.agent_id
            WHERE {_LIVE.format(among=among)} AND (a.last_seen_at IS NULL OR a.last_seen_at < %s))
        SELECT project_id, agent_id, name, min(seen_at), count(*), sum(refused), count(*) OVER ()
        FROM held GROUP BY project_id, agent_id, name
        ORDER BY CASE WHEN sum(refused) > 0 THEN 0 ELSE 1 END, min(seen_at), agent_id LIMIT %s""",
        [sql.stored_time(now), *values, sql.stored_time(silent_since), limit],
    )
    return [_holder(row) for row in found]


def read_full_holders(project_ids: Sequence[int], at_least: int, now: datetime, limit: int) -> list[Holder]:
    """The holders of so many live leases, the one with most first."""
    among, values = sql.among("l.project_id", project_ids)
    found = sql.rows(
        f"""
        SELECT l.project_id, l.agent_id, min(a.name), max(l.created_at), count(*), 0, count(*) OVER ()
        FROM tracking_lease l JOIN core_agent a ON a.id = l.agent_id
        WHERE {_LIVE.format(among=among)} GROUP BY l.project_id, l.agent_id HAVING count(*) >= %s
        ORDER BY count(*) DESC, l.agent_id LIMIT %s""",
        [sql.stored_time(now), *values, at_least, limit],
    )
    return [_holder(row) for row in found]


def _holder(row: sql.Row) -> Holder:
    project_id, agent_id, name, seen_at, leases, refused, holders = row
    return Holder(project_id, agent_id, name, sql.read_time(seen_at), leases, int(refused), holders)
