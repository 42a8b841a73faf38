"""Computes the similarity of two keys from their words, in any order, and their common path."""

from collections.abc import Sequence

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.abbreviations import Words, meanings
from memory.decisions.search.keys import WeightedWord, key_words

WORD_WEIGHT, PATH_WEIGHT = 0.9, 0.1
MIN_ABBREVIATION = 4  # auth abbreviates authentication; log does not abbreviate login.
ABBREVIATION_SCORE, MIN_LETTER_SIMILARITY = 0.8, 0.8
# A key and a key below it (`api/auth` and `api/auth/method`) score less than this at any depth.
SAME_SCORE = 0.78
NO_WORD = ("", 0.0)
COMPARED = 12  # At most so many differing words of each key are compared letter by letter.


@frozen
class Similarity:
    """The result of a comparison: `score` 0..1, and the common `path` as the other key writes it.

    `is_parallel`: each key has a word that the other lacks, so they name different things (`db/pool-size`,
    `db/pool-age`).
    """

    score: float
    path: str = ""
    is_parallel: bool = False

    @property
    def is_same(self) -> bool:
        """Whether the keys may mean the same: nearly all words of one are in the other."""
        return self.score >= SAME_SCORE and not self.is_parallel


def are_alike(one: str, other: str) -> bool:
    """Whether two keys are worth comparing: False if each has a number that the other lacks.

    Most neighbours of a new key differ so, and this costs a tenth of the comparison. Their words would be
    parallel.
    """
    first, second = key_words(one).exact, key_words(other).exact
    return first <= second or second <= first


def compare_keys(one: str, other: str) -> Similarity:
    """Compare two keys. Score: 0.9 times their words plus 0.1 times the share of common path segments.

    A pair of equal words counts the mean of its weights; an abbreviation 0.8 of that, a typo 0.8 or more.
    """
    first, second = key_words(one), key_words(other)
    word_score, is_parallel = _match_words(first.words, second.words)
    depth = _shared_depth(first.segments, second.segments)
    score = WORD_WEIGHT * word_score + PATH_WEIGHT * depth / max(len(first.segments), len(second.segments), 1)
    return Similarity(score, "/".join(second.written[:depth]), is_parallel)


def _match_words(first: Sequence[WeightedWord], second: Sequence[WeightedWord]) -> tuple[float, bool]:
    """Return the summed weight of matching words, and whether both sides have unmatched words."""
    score = 0.0
    left: list[WeightedWord] = []
    right = list(second)
    for pair in first:
        for other in right:
            if other[0] == pair[0]:
                right.remove(other)
                score += (pair[1] + other[1]) / 2
                break
        else:
            left.append(pair)
    # A new key is compared with some thirty others, nearly all of which differ in words that are not alike.
    for word, weight in left[:COMPARED] if right else ():
        similarity, nearest = _nearest(word, right[:COMPARED])
        if similarity:
            right.remove(nearest)
            left.remove((word, weight))
            score += similarity * (weight + nearest[1]) / 2
    return score, bool(left and right)


def _nearest(word: str, others: Sequence[WeightedWord]) -> tuple[float, WeightedWord]:
    """Return the most similar of other words, with its similarity; 0: none is similar."""
    forms = meanings(word)
    best = 0.0, NO_WORD
    if forms or word.isalpha():
        for other in others:
            if similarity := _word_similarity(word, other[0], forms):
                best = max(best, (similarity, other))
    return best


def _word_similarity(one: str, other: str, forms: Sequence[Words]) -> float:
    """Compare two different words: 0.8 or more for an abbreviation or a typo, else 0. Numbers must match.

    `forms`: the meanings of the first.
    """
    from rapidfuzz.distance import OSA

    if forms and (other,) in forms:
        return ABBREVIATION_SCORE
    if not (one.isalpha() and other.isalpha()):
        return 0.0
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(short) >= MIN_ABBREVIATION and long.startswith(short):
        return ABBREVIATION_SCORE
    return OSA.normalized_similarity(one, other, score_cutoff=MIN_LETTER_SIMILARITY)


def _shared_depth(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of leading segments that two paths have in common."""
    depth = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        depth += 1
    return depth
