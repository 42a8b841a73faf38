"""Statistics of snapshots: their causes, tiers and predictions."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from typing_extensions import TypedDict

from ctxhub.core.kit import sql
from ctxhub.toolbox.argument_types import About
from memory.predictions.learning import count_outcomes, read_weights
from memory.predictions.predictions import DEFAULT_WEIGHTS, SHOWN, PredictionParts
from memory.snapshots.models import ActionType
from memory.snapshots.tiers import Tiers, get_tiers


def average_length(causes: Mapping[int, int | None]) -> float:
    """The mean length over all snapshots, by their ids and the ids of their causes; 0 if there are none.

    A snapshot without a cause has the length 1. Circles, which only an import brings, have no first cause:
    their snapshots, and what follows from them, are left out.
    """
    lengths: dict[int | None, int] = {None: 0}
    for row_id in causes:
        _measure(row_id, causes, lengths)
    known = [length for row_id, length in lengths.items() if row_id is not None and length]
    return sum(known) / len(known) if known else 0.0


def _measure(row_id: int, causes: Mapping[int, int | None], lengths: dict[int | None, int]) -> None:
    """Add the lengths of a snapshot and of those that lead to it; 0 if they come from a circle."""
    walked: list[int] = []
    at: int | None = row_id
    while at is not None and at not in lengths:
        lengths[at] = 0
        walked.append(at)
        at = causes.get(at)
    length = lengths[at]
    for step in reversed(walked):
        # A walk that ends in itself, or in a circle, ends at 0.
        length += bool(length or at is None)
        lengths[step] = length


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


class CausalityStats(TypedDict):
    by_action: dict[str, int]
    with_cause: int
    roots: Annotated[int, About("Snapshots without a cause.")]
    average_chain: Annotated[float, About("Snapshots from the first cause to one, both included.")]


class PredictionStats(TypedDict):
    """`brier` and `baseline_brier`: of the weights in use and of the defaults, on the newest outcomes."""

    predicted: int
    average: float | None
    reasons: dict[str, int]
    weights: PredictionParts
    samples: int
    brier: float | None
    baseline_brier: float | None


class SnapshotStats(TypedDict):
    causality: CausalityStats
    memory: Tiers
    prediction: PredictionStats


def get_stats(project_id: int) -> SnapshotStats:
    return SnapshotStats(
        causality=_causality(project_id), memory=get_tiers(project_id), prediction=_prediction(project_id)
    )


def _causality(project_id: int) -> CausalityStats:
    rows = read_causes(project_id)
    counts = Counter(action for *_, action in rows)
    causes = {row_id: cause for row_id, cause, _ in rows}
    with_cause = sum(cause is not None for cause in causes.values())
    return CausalityStats(
        by_action={str(action.label): counts[action] for action in ActionType},
        with_cause=with_cause,
        roots=len(rows) - with_cause,
        average_chain=round(average_length(causes), 2),
    )


def _prediction(project_id: int) -> PredictionStats:
    sums = sum_predictions(project_id)
    predicted = sum(count for _, count, _ in sums)
    reasons: Counter[str] = Counter()
    for words, count, _ in sums:
        reasons.update(dict.fromkeys(words, count))
    learned = read_weights(project_id)
    weights = learned.weights if learned else DEFAULT_WEIGHTS
    return PredictionStats(
        predicted=predicted,
        average=round(sum(total for *_, total in sums) / predicted, SHOWN) if predicted else None,
        reasons=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        weights=PredictionParts(
            temporal=weights.temporal, causal=weights.causal, frequency=weights.frequency
        ),
        samples=learned.samples if learned else sum(count_outcomes(project_id)),
        brier=round(learned.brier, SHOWN) if learned else None,
        baseline_brier=round(learned.baseline_brier, SHOWN) if learned else None,
    )
