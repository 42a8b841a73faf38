"""Predicts how likely a snapshot is read again soon, when, and why; and the best ones of a project."""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db import connection
from typing_extensions import TypedDict

from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import COUNTED_TO, Listing, make_cursor, preview, read_cursor, total_of
from ctxhub.toolbox.argument_types import Time
from memory.snapshots.models import ActionType, Tier
from memory.snapshots.rows import SNAPSHOTS, SnapshotRow
from memory.snapshots.tiers import tier_of

HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)
UNREAD = {Tier.ACTIVE: 0.3, Tier.RECENT: 0.2, Tier.ARCHIVED: 0.1, Tier.EXPIRED: 0.0}
# A prediction came true if the snapshot was read so soon.
HIT_WITHIN = timedelta(hours=24)
# From this number of dependents on, more of them change no score.
MOST_DEPENDENTS = 5
# Stored scores have so many decimals, so that .7 is .7.
DECIMALS = 6


@frozen
class Parts:
    """The parts of a score, or their weights: each from 0 to 1."""

    temporal: float
    causal: float
    frequency: float


DEFAULT_WEIGHTS = Parts(0.4, 0.3, 0.3)


@frozen
class Reads:
    """What a prediction is computed from. `dependents`: the snapshots that name it as cause or dependency."""

    created_at: datetime
    last_accessed: datetime | None
    access_count: int
    action_type: int
    has_cause: bool
    has_dependencies: bool
    dependents: int


@frozen
class Prediction:
    """`next`: when the next read is expected; None if the snapshot was never read."""

    score: float
    parts: Parts
    reasons: Sequence[str]
    next: datetime | None


def predict(reads: Reads, now: datetime, weights: Parts = DEFAULT_WEIGHTS) -> Prediction:
    parts = Parts(
        round(temporal_part(reads, now), DECIMALS), causal_part(reads), round(frequency_part(reads), DECIMALS)
    )
    score = score_of(parts, weights)
    return Prediction(score, parts, reasons_for(score, parts.causal, reads, now), next_access(reads, now))


def score_of(parts: Parts, weights: Parts = DEFAULT_WEIGHTS) -> float:
    """The weighted sum of the parts, from 0 to 1."""
    total = (
        weights.temporal * parts.temporal
        + weights.causal * parts.causal
        + weights.frequency * parts.frequency
    )
    return round(min(max(total, 0.0), 1.0), DECIMALS)


def temporal_part(reads: Reads, now: datetime) -> float:
    if reads.last_accessed is None:
        return UNREAD[tier_of(reads.created_at, now)]
    return math.exp(-max(now - reads.last_accessed, timedelta()) / DAY)


def causal_part(reads: Reads) -> float:
    n, is_root = reads.dependents, not reads.has_cause
    if n:
        return round(min(1.0, 0.5 + 0.1 * n) if is_root else min(0.7, 0.3 + 0.1 * n), DECIMALS)
    return 0.2 if reads.has_cause or reads.has_dependencies else 0.0


def frequency_part(reads: Reads) -> float:
    return min(1.0, math.log(reads.access_count + 1) / math.log(101))


def next_access(reads: Reads, now: datetime) -> datetime | None:
    """The last read and the average time between reads, a day after a single one; from now to a week on."""
    last = reads.last_accessed
    if last is None or not reads.access_count:
        return None
    pause = DAY if reads.access_count == 1 else (last - reads.created_at) / reads.access_count
    return min(max(last + pause, now), now + WEEK)


def reasons_for(score: float, causal: float, reads: Reads, now: datetime) -> list[str]:
    """The reasons of a prediction, in a fixed order."""
    found = [
        "high_composite_score" if score >= 0.7 else "",
        _recency(reads.last_accessed, now),
        _step(reads.access_count, (10, "high_access_frequency"), (3, "moderate_access_frequency")),
        _step(causal, (0.5, "causal_chain_root"), (0.3, "causal_chain_member")),
        "active_memory_tier" if _tier(reads, now) == Tier.ACTIVE else "",
        "decision_node" if reads.action_type == ActionType.DECISION else "",
    ]
    return [reason for reason in found if reason] or ["baseline_prediction"]


def _tier(reads: Reads, now: datetime) -> Tier:
    return tier_of(reads.last_accessed or reads.created_at, now)


def _recency(last: datetime | None, now: datetime) -> str:
    if last is None or now - last >= DAY:
        return ""
    return "recently_accessed" if now - last < HOUR else "accessed_today"


def _step(value: float, *steps: tuple[float, str]) -> str:
    """The word of the first step that the value reaches, or an empty text."""
    return next((word for least, word in steps if value >= least), "")


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
