"""Finds the decisions that changed most often in a period."""

from datetime import datetime
from typing import NamedTuple

from ctxhub.core.kit import sql


class ChangedDecision(NamedTuple):
    """`changes`: versions after the first that were written in the period; `at`: of the last one of all."""

    id: int
    key: str
    version: str
    changes: int
    at: datetime


def read_most_changed(
    project_id: int, since: datetime, until: datetime, at_most: int
) -> list[ChangedDecision]:
    """Those with most changes first. Reads the decisions that have changed since the beginning.

    A revision has the time at which its state was written, so the first one is the creation.
    """
    begin, end = sql.stored_time(since), sql.stored_time(until)
    found = sql.rows(
        """
        SELECT id, key, version, changes, updated_at FROM (
            SELECT d.id, d.key, d.version, d.updated_at, count(r.id)
                + CASE WHEN d.updated_at < %s THEN 1 ELSE 0 END
                - CASE WHEN d.created_at >= %s AND d.created_at < %s THEN 1 ELSE 0 END AS changes
            FROM memory_decision d
            LEFT JOIN memory_decisionrevision r ON r.decision_id = d.id AND r.at >= %s AND r.at < %s
            WHERE d.project_id = %s AND d.updated_at >= %s GROUP BY d.id) counted
        WHERE changes > 0 ORDER BY changes DESC, updated_at DESC, id DESC LIMIT %s""",
        [end, begin, end, begin, end, project_id, begin, at_most],
    )
    return [
        ChangedDecision(row_id, key, version, changes, sql.read_time(at))
        for row_id, key, version, changes, at in found
    ]
