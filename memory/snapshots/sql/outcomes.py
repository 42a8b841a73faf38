"""Stores the outcomes of predictions, and the weights learned from them."""

from collections.abc import Collection, Iterable
from datetime import date, datetime, timedelta

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from memory.snapshots.rules.learning import Learned, Outcome
from memory.snapshots.rules.prediction import Parts, Prediction
from memory.snapshots.sql.accesses import HIT_WITHIN

KEPT = timedelta(days=90)


def find_sampled(project_id: int, since: datetime) -> list[int | None]:
    """The snapshots of the predictions opened since a time; None for those deleted meanwhile."""
    found = sql.rows(
        "SELECT snapshot_id FROM memory_predictionoutcome WHERE project_id = %s AND created_at >= %s",
        [project_id, sql.stored_time(since)],
    )
    return [snapshot_id for (snapshot_id,) in found]


def open_outcomes(project_id: int, predictions: Collection[tuple[int, Prediction]], at: datetime) -> None:
    """Remember predictions, by the ids of their snapshots, until it is known whether they come true."""
    columns = ("project_id", "snapshot_id", "score", "temporal", "causal", "frequency", "created_at")
    moment = sql.stored_time(at)
    records = [
        (
            *(project_id, row_id, found.score, found.parts.temporal, found.parts.causal),
            *(found.parts.frequency, moment),
        )
        for row_id, found in predictions
    ]
    if records:
        sql.insert("memory_predictionoutcome", columns, records)


def mark_misses(project_id: int, now: datetime, at_most: int) -> int:
    """Decide open predictions whose day is over: a read would have made them hits. Returns how many."""
    due = sql.among_found("id", f"{_OPEN} AND snapshot_id IS NOT NULL LIMIT %s")
    values = [project_id, sql.stored_time(now - HIT_WITHIN), at_most]
    statement = f"UPDATE memory_predictionoutcome SET hit = %s WHERE {due} RETURNING id"
    return len(sql.rows(statement, [False, *values]))


def drop_outcomes(project_id: int, now: datetime, at_most: int) -> int:
    """Delete outcomes older than 90 days, and undecided ones whose snapshot is deleted. Returns how many."""
    old = "SELECT id FROM memory_predictionoutcome WHERE project_id = %s AND created_at < %s"
    either = f"SELECT id FROM ({old} UNION ALL {_OPEN} AND snapshot_id IS NULL) gone LIMIT %s"
    values = [
        *(project_id, sql.stored_time(now - KEPT)),
        *(project_id, sql.stored_time(now - HIT_WITHIN), at_most),
    ]
    where = sql.among_found("id", either)
    return len(sql.rows(f"DELETE FROM memory_predictionoutcome WHERE {where} RETURNING id", values))


def read_outcomes(project_id: int) -> list[Outcome]:
    """The decided outcomes, the oldest prediction first."""
    found = sql.rows(
        """
        SELECT temporal, causal, frequency, hit FROM memory_predictionoutcome
        WHERE project_id = %s AND hit IS NOT NULL ORDER BY created_at, id""",
        [project_id],
    )
    return [Outcome(Parts(*parts), bool(hit)) for *parts, hit in found]


def count_outcomes(project_id: int) -> tuple[int, int]:
    """The numbers of hits and of misses."""
    [(hits, misses)] = sql.rows(
        """
        SELECT count(*) FILTER (WHERE hit), count(*) FILTER (WHERE NOT hit)
        FROM memory_predictionoutcome WHERE project_id = %s""",
        [project_id],
    )
    return hits, misses


@frozen
class DayOfOutcomes:
    """The decided predictions of a day, in UTC, and the sums of their squared errors."""

    at: date
    count: int
    hits: int
    error: float
    default_error: float


def sum_outcomes_by_day(project_id: int, weights: Parts) -> list[DayOfOutcomes]:
    """The decided predictions by day; `default_error` is that of these weights, which must add up to 1."""
    found = sql.rows(
        """
        SELECT day, count(*), sum(hit), sum((score - hit) * (score - hit)), sum((other - hit) * (other - hit))
        FROM (
            SELECT substr(CAST(created_at AS text), 1, 10) AS day, score,
                temporal * %s + causal * %s + frequency * %s AS other, CASE WHEN hit THEN 1 ELSE 0 END AS hit
            FROM memory_predictionoutcome WHERE project_id = %s AND hit IS NOT NULL) o
        GROUP BY day ORDER BY day""",
        [weights.temporal, weights.causal, weights.frequency, project_id],
    )
    return [
        DayOfOutcomes(date.fromisoformat(day), count, int(hits), *map(float, rest))
        for day, count, hits, *rest in found
    ]


def read_weights(project_id: int) -> Learned | None:
    found = sql.rows(
        """
        SELECT temporal, causal, frequency, samples, brier, baseline_brier
        FROM memory_predictionweights WHERE project_id = %s""",
        [project_id],
    )
    return next((Learned(Parts(t, c, f), *rest) for t, c, f, *rest in found), None)


def write_weights(project_id: int, learned: Learned | None, at: datetime) -> None:
    """Replace the project's weights; None: it has none of its own."""
    if learned is None:
        sql.execute("DELETE FROM memory_predictionweights WHERE project_id = %s", [project_id])
        return
    parts, own = learned.weights, ("temporal", "causal", "frequency", "samples", "brier", "baseline_brier")
    changes = ", ".join(f"{column} = excluded.{column}" for column in (*own, "created_at"))
    values: Iterable[object] = (parts.temporal, parts.causal, parts.frequency, learned.samples)
    sql.insert(
        "memory_predictionweights",
        ("project_id", *own, "created_at"),
        [(project_id, *values, learned.brier, learned.baseline_brier, sql.stored_time(at))],
        f"ON CONFLICT (project_id) DO UPDATE SET {changes}",
    )


_OPEN = """SELECT id FROM memory_predictionoutcome
    WHERE project_id = %s AND hit IS NULL AND created_at < %s"""
