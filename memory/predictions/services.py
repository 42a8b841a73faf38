"""Predicts which snapshots are read again soon."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from heapq import nsmallest

from typing_extensions import TypedDict

from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.batches import ROWS_AT_ONCE
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.inputs import clean_from_to
from ctxhub.core.kit.progress import tell_progress
from ctxhub.core.kit.transactions import write_transaction
from memory.predictions.learning import count_outcomes, find_sampled, learn_weights, open_outcomes
from memory.predictions.predictions import (
    Parts,
    Prediction,
    find_stale,
    predict,
    read_reads,
    write_predictions,
)

# Of so many predictions a day it is remembered whether they come true.
SAMPLED_A_DAY = 500
MOST_HOURS = 8_760


class Scored(TypedDict):
    """How the predictions of the last 90 days turned out, as far as that is known."""

    hits: int
    misses: int


class PredictAnswer(TypedDict):
    refreshed: int
    scored: Scored


def predict_snapshots(*, caller: Caller, stale_hours: int = 24) -> PredictAnswer:
    """Predict every snapshot that was never predicted, or longer ago than `stale_hours` (0 to 8,760)."""
    return refresh_predictions(caller.project_id, stale_hours=stale_hours)


def refresh_predictions(project_id: int, *, stale_hours: int = 24) -> PredictAnswer:
    """Like `predict_snapshots`, for a project. Learns the weights first, and records no event."""
    stale_hours = clean_from_to(stale_hours, "stale_hours", 0, MOST_HOURS)
    now = clock.now()
    weights = learn_weights(project_id, now)
    ids = find_stale(project_id, now - timedelta(hours=stale_hours))
    sample = _sample(ids, find_sampled(project_id, _day(now)), now)
    refreshed = done = 0
    for some in sql.chunks(ids, ROWS_AT_ONCE):
        refreshed += _refresh(project_id, some, sample, weights, now)
        done += len(some)
        tell_progress(done, len(ids), "snapshots")
    hits, misses = count_outcomes(project_id)
    return PredictAnswer(refreshed=refreshed, scored=Scored(hits=hits, misses=misses))


def _refresh(
    project_id: int, ids: Sequence[int], sample: Collection[int], weights: Parts, now: datetime
) -> int:
    with write_transaction(project_id):
        found = {
            row_id: predict(reads, now, weights) for row_id, reads in read_reads(project_id, ids).items()
        }
        write_predictions(found.items(), now)
        sampled = [(row_id, found[row_id]) for row_id in ids if row_id in sample and row_id in found]
        if sampled:
            open_outcomes(project_id, _within_the_day(project_id, sampled, now), now)
    return len(found)


def _within_the_day(
    project_id: int, sampled: Sequence[tuple[int, Prediction]], now: datetime
) -> list[tuple[int, Prediction]]:
    """Those that the day has room for: another refresh may have opened some meanwhile."""
    taken = find_sampled(project_id, _day(now))
    room = max(0, SAMPLED_A_DAY - len(taken))
    return [(row_id, found) for row_id, found in sampled if row_id not in taken][:room]


def _sample(ids: Sequence[int], taken: Collection[int | None], now: datetime) -> set[int]:
    """The snapshots whose predictions are remembered today: those with the smallest hash of id and day."""
    day, before = now.date().isoformat(), {*taken}
    free = (row_id for row_id in ids if row_id not in before)
    room = max(0, SAMPLED_A_DAY - len(taken))
    return set(nsmallest(room, free, key=lambda row_id: sha256(f"{row_id} {day}".encode()).digest()))


def _day(now: datetime) -> datetime:
    """The beginning of the day, in UTC."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)
