"""Reads what predictions are computed from, and stores them."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import connection

from ctxhub.core.kit import sql
from memory.snapshots.rules.prediction import MOST_DEPENDENTS, Prediction, Reads

_READS = f"""
    SELECT d.id, d.created_at, d.last_accessed, d.access_count, d.action_type, d.caused_by_id IS NOT NULL,
    EXISTS (SELECT 1 FROM memory_snapshotdependency x WHERE x.snapshot_id = d.id),
    (SELECT count(*) FROM (
        SELECT a.id FROM (
            SELECT e.id FROM memory_snapshot e WHERE e.caused_by_id = d.id LIMIT {MOST_DEPENDENTS}
        ) a UNION SELECT b.snapshot_id FROM (
            SELECT x.snapshot_id FROM memory_snapshotdependency x WHERE x.dependency_id = d.id
            LIMIT {MOST_DEPENDENTS}
        ) b
    ) dependents)
    FROM memory_snapshot d WHERE """
_SET = (
    *("prediction_score", "temporal", "causal", "frequency", "reasons", "predicted_next", "predicted_at"),
)
_TYPES = (*("bigint", "float8", "float8", "float8", "float8", "jsonb", "timestamptz", "timestamptz"),)


def find_stale(project_id: int, before: datetime) -> list[int]:
    """The ids of the snapshots that were never predicted, then of those last predicted before a time."""
    never = "SELECT id FROM memory_snapshot WHERE project_id = %s AND predicted_at IS NULL ORDER BY id"
    earlier = """
        SELECT id FROM memory_snapshot WHERE project_id = %s AND predicted_at < %s
        ORDER BY predicted_at, id"""
    found = sql.rows(never, [project_id]) + sql.rows(earlier, [project_id, sql.stored_time(before)])
    return [row_id for (row_id,) in found]


def read_reads(project_id: int, ids: Sequence[int]) -> dict[int, Reads]:
    """What the predictions of these snapshots are computed from; dependents are counted up to 5."""
    where, values = sql.by_ids("d", project_id, ids)
    return {
        row_id: Reads(
            created_at=sql.read_time(created_at),
            last_accessed=sql.read_time(last) if last else None,
            access_count=count,
            action_type=action,
            has_cause=bool(has_cause),
            has_dependencies=bool(has_dependencies),
            dependents=dependents,
        )
        for row_id, created_at, last, count, action, has_cause, has_dependencies, dependents in sql.rows(
            _READS + where, values
        )
    }


def write_predictions(predictions: Iterable[tuple[int, Prediction]], at: datetime) -> None:
    """Store predictions by the ids of their snapshots."""
    records = [
        (
            *(row_id, found.score, found.parts.temporal, found.parts.causal, found.parts.frequency),
            sql.stored_json(list(found.reasons)),
            sql.stored_time(found.next) if found.next else None,
            sql.stored_time(at),
        )
        for row_id, found in predictions
    ]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            changes = ", ".join(f"{column} = %s" for column in _SET)
            cursor.executemany(
                f"UPDATE memory_snapshot SET {changes} WHERE id = %s",
                [(*values, row_id) for row_id, *values in records],
            )
        elif records:
            changes = ", ".join(f"{column} = v.{column}" for column in _SET)
            columns = [list(column) for column in zip(*records, strict=True)]
            arrays = ", ".join(f"%s::{kind}[]" for kind in _TYPES)
            cursor.execute(
                f"UPDATE memory_snapshot d SET {changes} FROM unnest({arrays}) v(id, {', '.join(_SET)})"
                # The second condition keeps PostgreSQL from reading the whole table for each batch.
                " WHERE d.id = v.id AND d.id = ANY(%s::bigint[])",
                [*columns, columns[0]],
            )


def find_best(
    project_id: int, min_score: float, after: Sequence[float], limit: int
) -> list[tuple[int, float]]:
    """Ids and stored scores from a score on, the best first, then the newest.

    `after`: the score and the id that the rows follow; (): from the first on.
    """
    behind = "AND (prediction_score, id) < (%s, %s)" if after else ""
    found = sql.rows(
        f"""
        SELECT id, prediction_score FROM memory_snapshot
        WHERE project_id = %s AND prediction_score >= %s {behind}
        ORDER BY prediction_score DESC, id DESC LIMIT %s""",
        [project_id, min_score, *after, limit],
    )
    return [(row_id, score) for row_id, score in found]


def count_best(project_id: int, min_score: float, at_most: int) -> int:
    """How many snapshots have at least a stored score, counted up to `at_most`."""
    [(count,)] = sql.rows(
        """
        SELECT count(*) FROM (SELECT 1 FROM memory_snapshot
        WHERE project_id = %s AND prediction_score >= %s LIMIT %s) c""",
        [project_id, min_score, at_most],
    )
    return int(count)
