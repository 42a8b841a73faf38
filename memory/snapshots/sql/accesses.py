"""Counts reads of snapshots, and marks the predictions that they prove right."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from ctxhub.core.kit import sql
from memory.snapshots.models.snapshot import Tier

COUNTED_EVERY = timedelta(minutes=1)
# A prediction came true if the snapshot was read so soon.
HIT_WITHIN = timedelta(hours=24)


def count_accesses(project_id: int, folded: str, ids: Sequence[int], at: datetime) -> list[int]:
    """Count a read by an agent, by its folded name; returns the snapshots that it counts for.

    It does not count if the same agent was the last reader, less than a minute ago.
    """
    which, id_values = sql.among("id", ids)
    reader = "SELECT id FROM core_agent WHERE project_id = %s AND folded = %s"
    due = f"""
        SELECT id FROM memory_snapshot WHERE project_id = %s AND {which} AND (last_accessed IS NULL
        OR last_accessed <= %s OR coalesce(last_accessed_by_id, 0) <> coalesce(({reader}), 0))
        {_unlocked()}"""
    moment = sql.stored_time(at)
    who: list[Any] = [project_id, folded]
    counted = sql.rows(
        f"""
        UPDATE memory_snapshot SET access_count = access_count + 1, last_accessed = %s, touched_at = %s,
        tier = {Tier.ACTIVE.value}, last_accessed_by_id = ({reader})
        WHERE {sql.among_found("id", due)} RETURNING id""",
        [moment, moment, *who, project_id, *id_values, sql.stored_time(at - COUNTED_EVERY), *who],
    )
    return [row_id for (row_id,) in counted]


def mark_hits(snapshot_ids: Sequence[int], at: datetime) -> None:
    """Mark the open predictions of snapshots that are read now as hits."""
    which, ids = sql.among("snapshot_id", snapshot_ids)
    found = f"""
        SELECT id FROM memory_predictionoutcome WHERE {which} AND created_at >= %s AND created_at <= %s
        AND hit IS NULL {_unlocked()}"""
    times = [sql.stored_time(at - HIT_WITHIN), sql.stored_time(at)]
    where = sql.among_found("id", found)
    sql.execute(f"UPDATE memory_predictionoutcome SET hit = %s WHERE {where}", [True, *ids, *times])


def _unlocked() -> str:
    """Leaves out rows that another transaction has locked: a read waits for no writer."""
    return "FOR UPDATE SKIP LOCKED" if connection.vendor == "postgresql" else ""
