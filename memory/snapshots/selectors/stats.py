"""Statistics of snapshots: their causes, tiers and predictions."""

from collections import Counter
from typing import Annotated

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About
from memory.snapshots.models.snapshot import ActionType
from memory.snapshots.rules.chains import average_length
from memory.snapshots.rules.prediction import DEFAULT_WEIGHTS
from memory.snapshots.selectors.predictions import SHOWN, PredictionParts
from memory.snapshots.selectors.tiers import Tiers, get_tiers
from memory.snapshots.sql.outcomes import count_outcomes, read_weights
from memory.snapshots.sql.stats import read_causes, sum_predictions


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
