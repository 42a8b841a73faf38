"""Weights are learned from what came true, and only if they predict better than the defaults."""

import random

import pytest

from memory.predictions.learning import GRID, Learned, Moments, Outcome, learn
from memory.predictions.predictions import DEFAULT_WEIGHTS, Parts


def history(count: int, *, by_frequency: bool, seed: int = 7) -> list[Outcome]:
    """Outcomes in which the frequency alone decides, or nothing does."""
    dice = random.Random(seed)
    found = []
    for _ in range(count):
        parts = Parts(dice.random(), dice.random(), dice.random())
        found.append(Outcome(parts, parts.frequency > 0.5 if by_frequency else dice.random() < 0.45))
    return found


def brier(outcomes: list[Outcome], weights: Parts) -> float:
    scores = [
        weights.temporal * o.parts.temporal
        + weights.causal * o.parts.causal
        + weights.frequency * o.parts.frequency
        for o in outcomes
    ]
    return sum((score - o.hit) ** 2 for score, o in zip(scores, outcomes, strict=True)) / len(outcomes)


def test_the_grid_has_every_weight_from_a_tenth_to_six_tenths() -> None:
    assert len(GRID) == len(set(GRID)) == 90
    assert all(0.1 <= w <= 0.6 for parts in GRID for w in (parts.temporal, parts.causal, parts.frequency))
    assert {round(p.temporal + p.causal + p.frequency, 9) for p in GRID} == {1.0}
    assert DEFAULT_WEIGHTS in GRID


def test_sums_give_the_mean_of_the_squares() -> None:
    outcomes = history(99, by_frequency=True)
    for weights in GRID:
        assert Moments(outcomes).brier(weights) == pytest.approx(brier(outcomes, weights))


@pytest.mark.parametrize("seed", range(5))
def test_where_frequency_alone_predicts_it_gets_the_highest_weight(seed: int) -> None:
    outcomes = history(400, by_frequency=True, seed=seed)
    learned = learn(outcomes)
    assert learned
    assert learned.weights.frequency == 0.6
    assert learned.samples == 400
    assert learned.brier <= learned.baseline_brier - 0.005
    assert learned.brier == pytest.approx(brier(outcomes[280:], learned.weights), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_where_nothing_predicts_the_defaults_stay(seed: int) -> None:
    learned = learn(history(400, by_frequency=False, seed=seed))
    assert learned
    assert (learned.weights, learned.brier) == (DEFAULT_WEIGHTS, learned.baseline_brier)


def test_the_same_outcomes_teach_the_same() -> None:
    assert learn(history(77, by_frequency=True)) == learn(history(77, by_frequency=True))


def test_fewer_than_fifty_outcomes_teach_nothing() -> None:
    outcomes = history(50, by_frequency=True)
    assert learn(outcomes[:49]) is None
    assert isinstance(learn(outcomes), Learned)


@pytest.mark.parametrize("hit", [True, False])
def test_outcomes_of_one_kind_teach_nothing(hit: bool) -> None:
    assert learn([Outcome(o.parts, hit) for o in history(200, by_frequency=True)]) is None


def test_what_stops_to_hold_is_not_taken() -> None:
    """The newest outcomes contradict what the older ones teach."""
    old, new = history(140, by_frequency=True), history(60, by_frequency=True)
    learned = learn([*old, *(Outcome(o.parts, not o.hit) for o in new)])
    assert learned
    assert learned.weights == DEFAULT_WEIGHTS
