"""Measures of search quality: the share of answers that are found, and the rank of the first one."""

from collections.abc import Collection, Sequence

# The number of requested hits.
DEEPEST = 10


def recall(answers: Collection[str], found: Sequence[str], depth: int) -> float:
    return len(set(answers) & set(found[:depth])) / len(answers)


def reciprocal_rank(answers: Collection[str], found: Sequence[str]) -> float:
    ranks = [rank for rank, row_id in enumerate(found, start=1) if row_id in answers]
    return 1 / ranks[0] if ranks else 0.0
