"""Reads the causes of all snapshots, and sums up their predictions. Both read indexes alone."""

from ctxhub.core.kit import sql


def read_causes(project_id: int) -> list[tuple[int, int | None, int]]:
    """The id, the id of the cause and the action type of every snapshot."""
    found = sql.rows(
        "SELECT id, caused_by_id, action_type FROM memory_snapshot WHERE project_id = %s"
        " ORDER BY action_type",
        [project_id],
    )
    return [(row_id, cause, action) for row_id, cause, action in found]


def sum_predictions(project_id: int) -> list[tuple[list[str], int, float]]:
    """For each set of reasons that occurs the number of predictions, and the sum of their scores."""
    found = sql.rows(
        """
        SELECT reasons, count(*), sum(prediction_score) FROM memory_snapshot
        WHERE project_id = %s AND prediction_score IS NOT NULL GROUP BY reasons""",
        [project_id],
    )
    return [(sql.read_json(reasons), count, float(total)) for reasons, count, total in found]
