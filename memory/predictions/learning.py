"""Which predictions came true, how good they were by week, and the weights learned from them."""

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, timedelta

from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.batches import ROWS_AT_ONCE
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.transactions import write_transaction
from memory.predictions.predictions import DEFAULT_WEIGHTS, HIT_WITHIN, Parts, Prediction

# Fewer outcomes, or outcomes of one kind alone, teach nothing.
FEWEST = 50
# The weights in twentieths: each from .1 to .6, their sum 1.
TWENTIETHS = range(2, 13)
# Learned weights must have a Brier score that is lower by this than that of the defaults.
GAIN = 0.005


@frozen
class Outcome:
    """The parts of a past prediction, and whether it came true."""

    parts: Parts
    hit: bool


@frozen
class Learned:
    """The weights to use: the defaults if no others are better. Both Brier scores are of the newest 30 %."""

    weights: Parts
    samples: int
    brier: float
    baseline_brier: float


class Moments:
    """Sums over outcomes that give the Brier score of any weights, without reading the outcomes again."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self.count = self.hits = 0
        self.products = [0.0] * 6
        self.with_hit = [0.0] * 3
        for outcome in outcomes:
            self._add(outcome)

    def _add(self, outcome: Outcome) -> None:
        t, c, f = outcome.parts.temporal, outcome.parts.causal, outcome.parts.frequency
        self.count += 1
        for n, product in enumerate((t * t, c * c, f * f, t * c, t * f, c * f)):
            self.products[n] += product
        if outcome.hit:
            self.hits += 1
            for n, part in enumerate((t, c, f)):
                self.with_hit[n] += part

    def brier(self, weights: Parts) -> float:
        """The mean of (score - hit)²: 0 is perfect. Weights with the sum 1 give scores from 0 to 1."""
        t, c, f = weights.temporal, weights.causal, weights.frequency
        squares = (t * t, c * c, f * f, 2 * t * c, 2 * t * f, 2 * c * f)
        scores = sum(factor * product for factor, product in zip(squares, self.products, strict=True))
        crossed = sum(factor * part for factor, part in zip((t, c, f), self.with_hit, strict=True))
        return max(0.0, (scores - 2 * crossed + self.hits) / self.count)


GRID = tuple(
    Parts(temporal / 20, causal / 20, (20 - temporal - causal) / 20)
    for temporal in TWENTIETHS
    for causal in TWENTIETHS
    if 20 - temporal - causal in TWENTIETHS
)


def learn(outcomes: Sequence[Outcome]) -> Learned | None:
    """The weights learned from outcomes, the oldest first; None if these are too few or of one kind.

    The oldest 70 % choose among the weights of the grid, the newest 30 % judge the choice.
    """
    hits = sum(outcome.hit for outcome in outcomes)
    if len(outcomes) < FEWEST or hits in (0, len(outcomes)):
        return None
    split = len(outcomes) * 7 // 10
    train, test = Moments(outcomes[:split]), Moments(outcomes[split:])
    best = min(GRID, key=lambda weights: (round(train.brier(weights), 12), _distance(weights)))
    brier, baseline = test.brier(best), test.brier(DEFAULT_WEIGHTS)
    if brier > baseline - GAIN:
        best, brier = DEFAULT_WEIGHTS, baseline
    return Learned(best, len(outcomes), round(brier, 6), round(baseline, 6))


def _distance(weights: Parts) -> float:
    """How far weights are from the defaults: of equally good ones the nearest is chosen."""
    here, there = DEFAULT_WEIGHTS, weights
    return (
        abs(here.temporal - there.temporal)
        + abs(here.causal - there.causal)
        + abs(here.frequency - there.frequency)
    )


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


# As long as outcomes are kept: 90 days.
WEEKS = 13


@frozen
class Week:
    """The decided predictions of a week. The Brier scores, of those made and of the default weights, are
    None if there are none.
    """

    begins: date
    hits: int
    misses: int
    brier: float | None
    baseline: float | None


def get_weeks(project_id: int) -> list[Week]:
    """The last 13 weeks, the oldest first; a week begins on Monday, in UTC."""
    today = clock.now().date()
    monday = today - timedelta(days=today.weekday())
    begins = [monday - timedelta(weeks=ago) for ago in reversed(range(WEEKS))]
    days = sum_outcomes_by_day(project_id, DEFAULT_WEIGHTS)
    return [
        _week(begin, [day for day in days if begin <= day.at < begin + timedelta(weeks=1)])
        for begin in begins
    ]


def _week(begins: date, days: Sequence[DayOfOutcomes]) -> Week:
    count, hits = sum(day.count for day in days), sum(day.hits for day in days)
    return Week(
        begins,
        hits,
        count - hits,
        _mean((day.error for day in days), count),
        _mean((day.default_error for day in days), count),
    )


def _mean(errors: Iterable[float], count: int) -> float | None:
    return sum(errors) / count if count else None


def decide_some(project_id: int, now: datetime) -> int:
    """Decide at most 500 predictions whose day is over, and delete at most 500 that are kept no longer.

    Returns how many rows it changed. A cleanup task, which runs inside the project's transaction. Reads mark
    the hits themselves, so what is still open after its day is a miss.
    """
    return mark_misses(project_id, now, ROWS_AT_ONCE) + drop_outcomes(project_id, now, ROWS_AT_ONCE)


def learn_weights(project_id: int, now: datetime) -> Parts:
    """Decide what is due, and store and return the weights that the known outcomes teach."""
    while _decide_batch(project_id, now):
        pass
    stored, learned = read_weights(project_id), learn(read_outcomes(project_id))
    if learned != stored:
        with write_transaction(project_id):
            write_weights(project_id, learned, now)
    return learned.weights if learned else DEFAULT_WEIGHTS


def _decide_batch(project_id: int, now: datetime) -> int:
    with write_transaction(project_id):
        return decide_some(project_id, now)
