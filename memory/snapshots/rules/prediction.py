"""Predictions: how likely a snapshot is read again soon, when, and why."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from ctxhub.core.kit.frozen import frozen
from memory.snapshots.models.snapshot import ActionType, Tier
from memory.snapshots.rules.tiers import tier_of

HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)
UNREAD = {Tier.ACTIVE: 0.3, Tier.RECENT: 0.2, Tier.ARCHIVED: 0.1, Tier.EXPIRED: 0.0}
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
