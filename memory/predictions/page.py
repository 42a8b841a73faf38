"""The prediction on the page of a snapshot: its parts, and its reasons in words."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core.kit.frozen import frozen
from memory.snapshots.models import Snapshot

PARTS = (
    ("temporal", "Recency", "how lately it was read"),
    ("causal", "Causes", "how much rests on it"),
    ("frequency", "Frequency", "how often it was read"),
)
REASONS = {
    "high_composite_score": "its score is 0.7 or more",
    "recently_accessed": "it was read less than an hour ago",
    "accessed_today": "it was read within a day",
    "high_access_frequency": "it was read 10 times or more",
    "moderate_access_frequency": "it was read 3 times or more",
    "causal_chain_root": "much rests on it",
    "causal_chain_member": "something rests on it",
    "active_memory_tier": "it was read or saved less than an hour ago",
    "decision_node": "it is a decision",
    "baseline_prediction": "nothing speaks for it in particular",
}


@frozen
class Part:
    """A part of a score, from 0 to 1."""

    name: str
    meaning: str
    value: float

    @property
    def percent(self) -> int:
        return round(100 * self.value)


@frozen
class ShownPrediction:
    """`next`: when the next read is expected; None if nobody ever read the snapshot."""

    score: Part
    parts: Sequence[Part]
    reasons: Sequence[str]
    next: datetime | None
    at: datetime


def shown_prediction(row: Snapshot) -> ShownPrediction | None:
    """The last prediction of a snapshot; None if there is none yet."""
    if row.prediction_score is None or row.predicted_at is None:
        return None
    return ShownPrediction(
        score=Part("Score", "how likely it is read again soon", row.prediction_score),
        parts=[Part(name, meaning, getattr(row, field) or 0.0) for field, name, meaning in PARTS],
        reasons=[in_words(reason) for reason in row.reasons],
        next=row.predicted_next,
        at=row.predicted_at,
    )


def in_words(reason: str) -> str:
    return REASONS.get(reason, reason.replace("_", " "))
