"""How alike two keys are: by their words, whatever their order, and by the path they share."""

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from ctxhub.core.search.abbreviations import meanings
from memory.decisions.search.keys import Weighed, key_words, segments_of

WORDS, PATH = 0.9, 0.1
SHORT_FORM = 4  # auth is short for authentication; log is not for login.
SHORT, NEAR = 0.8, 0.8
# A key and one below it (`api/auth` and `api/auth/method`) stay below this, however deep they are.
SAME = 0.78
COMPARED = 12  # Of longer keys the first words that differ are told apart, letter by letter.


@dataclass(frozen=True, slots=True)
class Similarity:
    """`score` 0..1; `path` is the beginning that they share, as the other writes it.

    `is_parallel`: each has a word of its own, so that two things are meant (`db/pool-size`, `db/pool-age`).
    """

    score: float
    path: str = ""
    is_parallel: bool = False

    @property
    def is_same(self) -> bool:
        """Whether one key may stand for the other: all words of the one are in the other, or nearly so."""
        return self.score >= SAME and not self.is_parallel


def compare_keys(one: str, other: str) -> Similarity:
    """Nine tenths are their words: a pair counts the mean of its weights, a short form or a slip 0.8 of it.

    One tenth is the beginning of the path that they share.
    """
    first, second = key_words(one), key_words(other)
    worth, has_own = _matched(first.words, second.words)
    depth = _shared_depth(first.segments, second.segments)
    score = WORDS * worth + PATH * depth / max(len(first.segments), len(second.segments), 1)
    return Similarity(score, "/".join(segments_of(other)[:depth]), has_own)


def _matched(first: Sequence[Weighed], second: Sequence[Weighed]) -> tuple[float, bool]:
    """What the words are worth that belong together, and whether each side has one of its own left."""
    worth = 0.0
    left: list[Weighed] = []
    right = list(second)
    for word, weight in first:
        if found := next((one for one in right if one[0] == word), None):
            right.remove(found)
            worth += (weight + found[1]) / 2
        else:
            left.append((word, weight))
    for word, weight in left[:COMPARED]:
        similarity, near = max(
            ((_alike(word, one[0]), one) for one in right[:COMPARED]), default=(0.0, ("", 0.0))
        )
        if similarity:
            right.remove(near)
            left.remove((word, weight))
            worth += similarity * (weight + near[1]) / 2
    return worth, bool(left and right)


def _alike(one: str, other: str) -> float:
    """Of two words that differ: 0.8 or more for a short form or a slip, else nothing. Numbers are exact."""
    if (other,) in meanings(one):
        return SHORT
    if not (one.isalpha() and other.isalpha()):
        return 0.0
    short, long = sorted((one, other), key=len)
    if len(short) >= SHORT_FORM and long.startswith(short):
        return SHORT
    return OSA.normalized_similarity(one, other, score_cutoff=NEAR)


def _shared_depth(one: Sequence[str], other: Sequence[str]) -> int:
    """How many segments two paths have in common before they part."""
    apart = (n for n, (first, second) in enumerate(zip(one, other, strict=False)) if first != second)
    return next(apart, min(len(one), len(other)))
