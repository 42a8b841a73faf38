"""Counts snapshots by action, measures their chains, and sums up their predictions."""

from ctxhub.core.kit import sql
from memory.snapshots.models.snapshot import ActionType


def count_actions(project_id: int) -> dict[ActionType, tuple[int, int]]:
    """For each action type the number of snapshots, and of those with a cause."""
    found = sql.rows(
        """
        SELECT action_type, count(*), count(caused_by_id) FROM memory_snapshot
        WHERE project_id = %s GROUP BY action_type""",
        [project_id],
    )
    return {ActionType(action): (count, with_cause) for action, count, with_cause in found}


def average_chain(project_id: int) -> float:
    """The mean number of snapshots from the first cause to each snapshot, both included; 0 if there are none.

    Every snapshot has one cause, so going from the roots to the effects reaches each one once. Circles,
    which only an import brings, have no root: their snapshots, and what follows from them, are left out.
    """
    [(average,)] = sql.rows(
        """
        WITH RECURSIVE chain (id, length) AS (
            SELECT id, 1 FROM memory_snapshot WHERE project_id = %s AND caused_by_id IS NULL
            UNION ALL
            SELECT e.id, chain.length + 1 FROM chain JOIN memory_snapshot e ON e.caused_by_id = chain.id
        )
        SELECT avg(length) FROM chain""",
        [project_id],
    )
    return float(average or 0)


def sum_predictions(project_id: int) -> list[tuple[list[str], int, float]]:
    """For each set of reasons that occurs the number of predictions, and the sum of their scores."""
    found = sql.rows(
        """
        SELECT reasons, count(*), sum(prediction_score) FROM memory_snapshot
        WHERE project_id = %s AND prediction_score IS NOT NULL GROUP BY reasons""",
        [project_id],
    )
    return [(sql.read_json(reasons), count, float(total)) for reasons, count, total in found]
