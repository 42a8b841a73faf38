"""The order of hits beyond their scores: what was said later, and what held before in just these words."""

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from ctxhub.core.search.candidates import Candidate
from ctxhub.core.search.documents import date_words
from ctxhub.core.search.queries import Term
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


# Scores that differ by less than this share are about equal.
ABOUT_EQUAL = 0.1
# A phrase may have so many other words between two of its own.
BETWEEN = 3


def later_first(ranked: Sequence[Ranked], depth: int) -> list[Ranked]:
    """Move, among the first `depth` hits, the later of two nearly equal statements before the earlier.

    They are of one kind, score about the same, and differ in numbers or few words. It takes the score of the
    place that it takes.
    """
    ordered: list[Ranked] = []
    words: list[Set[str] | None] = []
    for one in islice(ranked, depth):
        place, own = len(ordered), None
        for at, other in enumerate(ordered):
            if not _may_precede(one, other):
                continue
            own = own or words_of(one.candidate)
            known = words[at] = words[at] or words_of(other.candidate)
            if say_nearly_the_same(own, known):
                place = at
                break
        moved = one if place == len(ordered) else _raised(one, ordered[place].strength)
        ordered.insert(place, moved)
        words.insert(place, own)
    return [*ordered, *ranked[depth:]]


def current_first(shown: Sequence[Shown], wanted: Sequence[Term] = ()) -> list[Shown]:
    """Move earlier states behind current ones, and limit their scores to the lowest of those.

    But those with the `wanted` words of the query as one phrase come first, if nothing that stands has all of
    these words.
    """
    current = [hit for hit in shown if not hit.ranked.candidate.is_earlier]
    earlier = [hit for hit in shown if hit.ranked.candidate.is_earlier]
    known = {term for hit in shown for term in hit.ranked.parts}
    asked = [term for term in wanted if term in known]
    stands = any(known <= hit.ranked.parts.keys() for hit in current)
    exact = [] if stands else [hit for hit in earlier if _says(hit.ranked, asked, known)]
    highest = max((hit.ranked.strength for hit in current), default=0.0)
    lowest = min((hit.ranked.strength for hit in current), default=1.0)
    for hit in earlier:
        strength = hit.ranked.strength
        strength = max(strength, highest) if hit in exact else min(strength, lowest)
        hit.ranked = hit.ranked._replace(strength=strength)
    return [*exact, *current, *(hit for hit in earlier if hit not in exact)]


def _may_precede(later: Ranked, earlier: Ranked) -> bool:
    one, other = later.candidate, earlier.candidate
    return (
        one.kind == other.kind
        and not one.is_earlier
        and one.updated_at > other.updated_at
        and later.strength >= (1 - ABOUT_EQUAL) * earlier.strength
    )


def _raised(ranked: Ranked, strength: float) -> Ranked:
    if not ranked.strength:
        return ranked
    return ranked._replace(strength=strength, prior=ranked.prior * strength / ranked.strength)


def _says(ranked: Ranked, asked: Sequence[Term], known: Collection[Term]) -> bool:
    """Whether a hit has all terms, and the plain words among them one after the other."""
    if not ranked.parts.keys() >= set(known):
        return False
    plain = [term for term in asked if term.weight == 1 and not term.prefix and len(term.spellings[0]) == 1]
    return _is_phrase([term.spellings[0][0] for term in plain], ranked.candidate.words.split(" "))


def _is_phrase(words: Sequence[str], text: Sequence[str]) -> bool:
    """Whether the text has the words in this order, with at most BETWEEN others between two."""
    places = {-1 - BETWEEN: True} if not words else {}
    for number, word in enumerate(words):
        found = [at for at, each in enumerate(text) if each == word]
        if number:
            found = [at for at in found if any(0 < at - before <= 1 + BETWEEN for before in places)]
        places = dict.fromkeys(found, True)
    return bool(places)
