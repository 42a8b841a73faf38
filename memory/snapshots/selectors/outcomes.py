"""How good the predictions of a project were, by week."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from memory.snapshots.rules.learning import Learned
from memory.snapshots.rules.prediction import DEFAULT_WEIGHTS
from memory.snapshots.sql.outcomes import DayOfOutcomes, read_weights, sum_outcomes_by_day

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


def get_weights(project_id: int) -> Learned | None:
    """The weights that the project learned; None if it uses the defaults."""
    return read_weights(project_id)


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
