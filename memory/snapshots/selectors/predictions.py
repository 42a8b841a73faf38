"""Reads the prediction of a snapshot."""

from typing import Any

from ctxhub.core.kit.clock import format_time
from memory.snapshots.rows import SnapshotRow


def prediction_of(row: SnapshotRow) -> dict[str, Any] | None:
    """The stored prediction; None before the first."""
    if row.prediction_score is None:
        return None
    return {
        "score": round(row.prediction_score, 4),
        "parts": {"temporal": row.temporal, "causal": row.causal, "frequency": row.frequency},
        "reasons": list(row.reasons),
        "next": format_time(row.predicted_next) if row.predicted_next else None,
        "predicted_at": format_time(row.predicted_at) if row.predicted_at else None,
    }
