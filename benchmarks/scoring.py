"""Figures of search quality: which part of the answers is found, and at which place the first one is."""

from collections.abc import Collection, Sequence

# So many hits are asked for.
DEEPEST = 10


def recall(answers: Collection[str], found: Sequence[str], depth: int) -> float:
    return len(set(answers) & set(found[:depth])) / len(answers)


def reciprocal_rank(answers: Collection[str], found: Sequence[str]) -> float:
    places = [place for place, one in enumerate(found, start=1) if one in answers]
    return 1 / places[0] if places else 0.0
