"""The average length of causal chains, of any shape, in any order, with circles."""

import random

import pytest

from memory.predictions.statistics import average_length


@pytest.mark.parametrize(
    ("causes", "average"),
    [
        ({}, 0.0),
        ({1: None}, 1.0),
        ({1: None, 2: 1, 3: 2}, 2.0),
        ({3: 2, 2: 1, 1: None}, 2.0),
        ({1: None, 2: 1, 3: 1, 4: 1}, 1.75),
        ({1: 1}, 0.0),
        ({1: 2, 2: 1}, 0.0),
        ({1: 3, 2: 1, 3: 2, 4: 3, 5: 4, 6: None}, 1.0),
        ({5: 4, 4: 3, 3: 2, 2: 1, 1: 3, 6: None, 7: 6}, 1.5),
    ],
)
def test_chains_are_averaged_over_all_snapshots(causes: dict[int, int | None], average: float) -> None:
    assert average_length(causes) == average


@pytest.mark.parametrize("seed", range(3))
def test_the_order_makes_no_difference(seed: int) -> None:
    causes: dict[int, int | None] = {n: n - 1 if n % 7 else None for n in range(1, 200)}
    shuffled = list(causes.items())
    random.Random(seed).shuffle(shuffled)
    assert average_length(dict(shuffled)) == pytest.approx(average_length(causes))


def test_a_chain_of_a_hundred_thousand_and_a_circle_of_as_many_end() -> None:
    count = 100_000
    causes: dict[int, int | None] = {n: n - 1 or None for n in range(count, 0, -1)}
    causes |= {count + n: count + n % count + 1 for n in range(1, count + 1)}
    assert average_length(causes) == (count + 1) / 2
