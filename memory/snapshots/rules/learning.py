"""Learning: which weights would have predicted the known outcomes best."""

from collections.abc import Iterable, Sequence

from ctxhub.core.kit.frozen import frozen
from memory.snapshots.rules.prediction import DEFAULT_WEIGHTS, Parts

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
