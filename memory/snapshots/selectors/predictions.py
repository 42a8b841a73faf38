"""Reads predictions: of one snapshot, and the best ones of a project."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import COUNTED_TO, Listing, make_cursor, preview, read_cursor, total_of
from ctxhub.core.toolbox.argument_types import Time
from memory.snapshots.rows import SNAPSHOTS, SnapshotRow
from memory.snapshots.sql.predictions import count_best, find_best

COLUMNS = ("id", "score", "summary", "reasons", "next")
# Shown scores and parts have so many decimals.
SHOWN = 4


class PredictionParts(TypedDict):
    temporal: float
    causal: float
    frequency: float


class PredictionOfSnapshot(TypedDict):
    """`next`: when the next read is expected; null if nobody ever read it."""

    score: float
    parts: PredictionParts
    reasons: list[str]
    next: Time | None
    predicted_at: Time


class PrefetchedSnapshot(TypedDict):
    id: int
    score: float
    summary: str
    reasons: list[str]
    next: Time | None


def prediction_of(row: SnapshotRow) -> PredictionOfSnapshot | None:
    """The stored prediction of a snapshot; None if it was never predicted."""
    if row.predicted_at is None or row.prediction_score is None:
        return None
    return PredictionOfSnapshot(
        score=round(row.prediction_score, SHOWN),
        parts=PredictionParts(
            temporal=round(row.temporal or 0.0, SHOWN),
            causal=round(row.causal or 0.0, SHOWN),
            frequency=round(row.frequency or 0.0, SHOWN),
        ),
        reasons=list(row.reasons),
        next=format_time(row.predicted_next) if row.predicted_next else None,
        predicted_at=format_time(row.predicted_at),
    )


def list_best(
    project_id: int, *, min_score: float = 0.6, limit: int = 5, cursor: str | None = None
) -> Listing:
    """The snapshots with at least this score at their last prediction, best first, then newest."""
    if not 0 <= min_score <= 1:
        raise InvalidInput("min_score must be a number from 0 to 1.")
    limit = clean_limit(limit)
    after = read_cursor(cursor, float, int) if cursor else ()
    found = find_best(project_id, min_score, after, limit + 1)
    shown = found[:limit]

    def cursor_after(count: int) -> str:
        row_id, score = shown[count - 1]
        return make_cursor(score, row_id)

    return Listing(
        COLUMNS,
        _rows(project_id, shown),
        next=cursor_after(len(shown)) if len(found) > limit else None,
        extra=total_of(count_best(project_id, min_score, COUNTED_TO + 1)),
        cursor_after=cursor_after,
    )


def _rows(project_id: int, shown: Sequence[tuple[int, float]]) -> list[list[object]]:
    names = ("id", "summary", "reasons", "predicted_next", "created_at", "updated_at")
    rows = SNAPSHOTS.read(project_id, [row_id for row_id, _ in shown], names) if shown else {}
    return [
        [
            *(row_id, round(score, SHOWN), preview(rows[row_id].summary), list(rows[row_id].reasons)),
            format_time(moment) if (moment := rows[row_id].predicted_next) else None,
        ]
        for row_id, score in shown
        if row_id in rows
    ]


def find_predicted(project_id: int, limit: int) -> list[tuple[int, float]]:
    """Ids and scores of the best predictions, best first; those of score 0 are left out."""
    return [(row_id, score) for row_id, score in find_best(project_id, 0, (), limit) if score]
