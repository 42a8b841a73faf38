"""Finds the expired snapshots that nothing rests on."""

from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.pages import Condition
from memory.snapshots.models.snapshot import Tier
from memory.snapshots.rules.tiers import tier_range

_FREE = """NOT EXISTS (SELECT 1 FROM memory_snapshot e WHERE e.caused_by_id = d.id)
    AND NOT EXISTS (SELECT 1 FROM memory_snapshotdependency x WHERE x.dependency_id = d.id)"""


def find_prunable(project_id: int, now: datetime, limit: int) -> list[int]:
    """The ids of expired snapshots that none names as cause or dependency.

    Those never read come first, then the ones read longest ago.
    """
    where, values = _expired(project_id, now)
    found = sql.rows(
        f"""
        SELECT d.id FROM memory_snapshot d WHERE {where} AND {_FREE}
        ORDER BY d.last_accessed IS NOT NULL, d.touched_at, d.id LIMIT %s""",
        [*values, limit],
    )
    return [row_id for (row_id,) in found]


def count_needed(project_id: int, now: datetime) -> int:
    """How many expired snapshots another one names as cause or dependency."""
    where, values = _expired(project_id, now)
    [(count,)] = sql.rows(f"SELECT count(*) FROM memory_snapshot d WHERE {where} AND NOT ({_FREE})", values)
    return int(count)


def _expired(project_id: int, now: datetime) -> Condition:
    _, until = tier_range(Tier.EXPIRED, now)
    assert until
    values: list[Any] = [project_id, sql.stored_time(until)]
    return "d.project_id = %s AND d.touched_at <= %s", values
