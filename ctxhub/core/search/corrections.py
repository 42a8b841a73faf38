"""Spelling correction of queries, with the vocabulary of the project alone."""

import re
from collections.abc import Mapping
from dataclasses import replace

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.abbreviations import LONG_WORDS
from ctxhub.core.search.alternatives import with_meanings
from ctxhub.core.search.analyser import fold, pieces, runs
from ctxhub.core.search.ordinary_words import is_ordinary
from ctxhub.core.search.queries import Query, Term, single_words
from ctxhub.core.search.spelling import find_near_words, near_words
from ctxhub.core.search.stems import stem

# The weight of a corrected word; one that is found as typed has 1.
NEAR = 0.8
SHORT_LETTERS = 4
# Longer names are not similar to other words by chance.
SHORT_NAME = 6


@frozen
class Corrected:
    """The query to run, and the corrected text to suggest."""

    query: Query
    did_you_mean: str | None = None


def correct(project_id: int, text: str, query: Query, lost: frozenset[Term]) -> Corrected:
    """Replace terms that no passage has (`lost`) by the nearest known words; a dense run by its pairs.

    Ordinary English words are never corrected. Names are not, and short words only if letters are missing,
    unless no other term of the query is found either.
    """
    is_all_lost = lost >= set(query.wanted)
    names = set() if is_all_lost else names_in(text)
    mistyped = {
        term.surface
        for term in single_words(query)
        if term in lost and not is_ordinary(term.surface) and term.surface not in names
    }
    near = find_near_words(project_id, mistyped) if mistyped else {}
    near |= {word: nearest for word in mistyped - near.keys() if (nearest := _near_long_words(word))}
    if not is_all_lost:
        near = {word: _plausible(word, nearest) for word, nearest in near.items()}
    replacements = {term: _replacements(term, near) for term in query.wanted if term in lost}
    wanted = dict.fromkeys(new for term in query.wanted for new in replacements.get(term, [term]))
    if list(wanted) == list(query.wanted):
        return Corrected(query)
    corrections = {word: words[0] for word, words in near.items() if words}
    suggestion = _corrected_text(text, corrections)
    return Corrected(query.with_wanted(wanted), suggestion if suggestion != text else None)


def widen(project_id: int, query: Query) -> Query:
    """Add the similar words of the project to the spellings of every word."""
    near = find_near_words(project_id, {term.surface for term in single_words(query)})
    wanted = [
        replace(term, spellings=(*term.spellings, *_spellings(near.get(term.surface, ()), term)))
        for term in query.wanted
    ]
    return query.with_wanted(dict.fromkeys(wanted))


def names_in(text: str) -> set[str]:
    """Return the short words that are capitalised within a sentence: "what did Marla say"."""
    words = [(run.start(), run.group()) for run in runs(text)]
    if not any(word.islower() for _, word in words):
        return set()
    sentence_starts = {match.end() for match in re.finditer(r"(?:^|[.!?:]\s)\s*[\"'(]*", text)}
    named = [word for start, word in words if word.istitle() and start not in sentence_starts]
    return {piece.surface for word in named if len(word) <= SHORT_NAME for piece in pieces(word)}


def _replacements(term: Term, near: Mapping[str, list[str]]) -> list[Term]:
    if words := near.get(term.surface):
        return [with_meanings(Term(_spellings(words, term), words[0], weight=term.weight * NEAR))]
    [first, *others] = term.spellings
    if not term.surface and not others and not term.prefix and all(len(word) == 2 for word in first):
        return [replace(term, spellings=((pair,),)) for pair in first]
    return [term]


def _plausible(word: str, near: list[str]) -> list[str]:
    """For a word of four letters keep longer words with all of them: `tokn` is a token, `vite` no site."""
    return [other for other in near if len(word) > SHORT_LETTERS or _lacks_letters(word, other)]


def _lacks_letters(word: str, other: str) -> bool:
    letters = iter(other)
    return len(word) < len(other) and all(letter in letters for letter in word)


def _near_long_words(word: str) -> list[str]:
    """Return the nearest long form of an abbreviation, which the project may have in its short form only."""
    return [near for near, _ in near_words(word, LONG_WORDS, at_most=1) if stem(near) != stem(word)]


def _spellings(words: list[str] | tuple[str, ...], term: Term) -> tuple[tuple[str, ...], ...]:
    stems = dict.fromkeys((stem(word),) for word in words)
    return tuple(spelling for spelling in stems if spelling not in term.spellings)


def _corrected_text(text: str, corrections: Mapping[str, str]) -> str:
    """Return the text of the query with the corrected words."""

    def corrected(match: re.Match[str]) -> str:
        return corrections.get(fold(match.group()), match.group())

    return re.sub(r"[^\W_]+", corrected, text)
