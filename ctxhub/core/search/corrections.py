"""Mistyped words put right, from the words this project knows, and from no other's."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ctxhub.core.search.abbreviations import LONG_WORDS
from ctxhub.core.search.alternatives import with_meanings
from ctxhub.core.search.analyser import fold, pieces, runs
from ctxhub.core.search.ordinary_words import is_ordinary
from ctxhub.core.search.queries import Query, Term, single_words
from ctxhub.core.search.spelling import find_near_words, near_words
from ctxhub.core.search.stems import stem

# What a near word counts beside one that is there as it was typed.
NEAR = 0.8
SHORT_LETTERS = 4
# A longer name is near to no other word by chance.
SHORT_NAME = 6


@dataclass(frozen=True, slots=True)
class Corrected:
    """The query as it is looked up, and the question as it may be meant."""

    query: Query
    did_you_mean: str | None = None


def correct(project_id: int, text: str, query: Query, lost: frozenset[Term]) -> Corrected:
    """Words that are nowhere (`lost`) become the nearest that are; a run of characters becomes its pairs.

    An ordinary English word is meant as it stands. So is a name, and a short word may only lack a letter,
    unless nothing else of the question is there, either.
    """
    is_all_lost = lost >= set(query.wanted)
    left_alone = set() if is_all_lost else names_in(text)
    mistyped = {
        term.surface
        for term in single_words(query)
        if term in lost and not is_ordinary(term.surface) and term.surface not in left_alone
    }
    near = find_near_words(project_id, mistyped) if mistyped else {}
    near |= {word: some for word in mistyped - near.keys() if (some := _near_long_words(word))}
    if not is_all_lost:
        near = {word: _not_as_short(word, some) for word, some in near.items()}
    instead = {term: _instead(term, near) for term in query.wanted if term in lost}
    wanted = dict.fromkeys(new for term in query.wanted for new in instead.get(term, [term]))
    if list(wanted) == list(query.wanted):
        return Corrected(query)
    meant = {word: words[0] for word, words in near.items() if words}
    said = _said_again(text, meant)
    return Corrected(query.with_wanted(wanted), said if said != text else None)


def widen(project_id: int, query: Query) -> Query:
    """Every word stands for those near it, too."""
    near = find_near_words(project_id, {term.surface for term in single_words(query)})
    wanted = [
        replace(term, spellings=(*term.spellings, *_spellings(near.get(term.surface, ()), term)))
        for term in query.wanted
    ]
    return query.with_wanted(dict.fromkeys(wanted))


def names_in(text: str) -> set[str]:
    """Short words with a capital where none is due, as they are looked up: "what did Marla say"."""
    words = [(run.start(), run.group()) for run in runs(text)]
    if not any(word.islower() for _, word in words):
        return set()
    starts = {match.end() for match in re.finditer(r"(?:^|[.!?:]\s)\s*[\"'(]*", text)}
    named = [word for at, word in words if word.istitle() and at not in starts]
    return {piece.surface for word in named if len(word) <= SHORT_NAME for piece in pieces(word)}


def _instead(term: Term, near: Mapping[str, list[str]]) -> list[Term]:
    if words := near.get(term.surface):
        return [with_meanings(Term(_spellings(words, term), words[0], weight=term.weight * NEAR))]
    [first, *others] = term.spellings
    if not term.surface and not others and not term.prefix and all(len(word) == 2 for word in first):
        return [replace(term, spellings=((pair,),)) for pair in first]
    return [term]


def _not_as_short(word: str, near: list[str]) -> list[str]:
    """Of a word of four letters those that have all of it and more: `tokn` is a token, `vite` no site."""
    return [other for other in near if len(word) > SHORT_LETTERS or _lacks_letters(word, other)]


def _lacks_letters(word: str, other: str) -> bool:
    letters = iter(other)
    return len(word) < len(other) and all(letter in letters for letter in word)


def _near_long_words(word: str) -> list[str]:
    """What is known by its abbreviation alone is mistyped as it is written out."""
    return [near for near, _ in near_words(word, LONG_WORDS, at_most=1) if stem(near) != stem(word)]


def _spellings(words: list[str] | tuple[str, ...], term: Term) -> tuple[tuple[str, ...], ...]:
    stems = dict.fromkeys((stem(word),) for word in words)
    return tuple(spelling for spelling in stems if spelling not in term.spellings)


def _said_again(text: str, meant: Mapping[str, str]) -> str:
    """The question with the right words in it."""

    def right(match: re.Match[str]) -> str:
        return meant.get(fold(match.group()), match.group())

    return re.sub(r"[^\W_]+", right, text)
