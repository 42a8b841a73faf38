"""Collapses hits with nearly equal texts: shows the best one and counts the others."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from ctxhub.core.search.candidates import Candidate
from ctxhub.core.search.documents import date_words
from ctxhub.core.search.ranking import Ranked
from ctxhub.core.search.stop_words import STOP_WORDS

# Jaccard similarity: the share of all words of two texts that both have.
NEARLY_EQUAL = 0.75
# The same without words that say nothing, and without numbers.
NEARLY_SAME = 0.65
# Of texts that have less than this share of the words of the shorter in common no more need be known.
LEAST_COMMON = 0.3


@dataclass
class Shown:
    """A hit, and the number of nearly equal hits that are left out."""

    ranked: Ranked
    more: int = 0

    @cached_property
    def words(self) -> frozenset[str]:
        return words_of(self.ranked.candidate)


def without_repeats(
    ranked: Iterable[Ranked], at_most: int, may_be_left_out: Callable[[Ranked], bool] | None
) -> list[Shown]:
    """Return the first `at_most` hits without repeats, in order. With None repeats stay."""
    if may_be_left_out is None:
        return [Shown(one) for one in islice(ranked, at_most)]
    shown: list[Shown] = []
    for one in ranked:
        if may_be_left_out(one) and (like := _like(Shown(one), shown)):
            like.more += 1
        elif len(shown) < at_most:
            shown.append(Shown(one))
    return shown


def _like(hit: Shown, shown: Sequence[Shown]) -> Shown | None:
    words = hit.words
    return next((other for other in shown if _are_nearly_equal(words, other.words)), None)


def _are_nearly_equal(one: frozenset[str], other: frozenset[str]) -> bool:
    """Texts that differ in a number are never equal: build 41 is not build 42."""
    size, other_size = len(one), len(other)
    if size < NEARLY_EQUAL * other_size or other_size < NEARLY_EQUAL * size:
        return False
    common = len(one & other)
    is_most = common >= NEARLY_EQUAL * (size + other_size - common)
    return is_most and not any(map(_has_digit, one ^ other))


def _tells(word: str) -> bool:
    return word not in STOP_WORDS and not _has_digit(word)


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(character.isdigit() for character in word)


def say_nearly_the_same(one: Set[str], other: Set[str]) -> bool:
    """Whether two texts have most of their words in common, but for numbers: of `30 s` and `60 s` both may be
    said of one thing.
    """
    if len(one & other) < LEAST_COMMON * min(len(one), len(other)):
        return False
    plain, other_plain = ({*filter(_tells, words)} for words in (one, other))
    if not plain or not other_plain:
        return False
    return len(plain & other_plain) >= NEARLY_SAME * len(plain | other_plain)


def words_of(candidate: Candidate) -> frozenset[str]:
    """Return the words without the date: repeats of another day are repeats."""
    return frozenset(candidate.words.split(" ")) - frozenset(date_words(candidate.updated_at))
