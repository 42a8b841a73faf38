"""Spelling correction of queries, with the vocabulary of the project alone."""

import re
from collections.abc import Mapping
from dataclasses import replace

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.alternatives import with_beginnings, with_meanings
from ctxhub.core.search.analyser import fold, pieces, runs
from ctxhub.core.search.ordinary_words import forms_like, is_ordinary
from ctxhub.core.search.queries import Query, Term, single_words
from ctxhub.core.search.spelling import find_meant_words, find_near_words, is_slip, near_words
from ctxhub.core.search.stems import stem

# The weights of a corrected word by its distance from what was typed; one that is found as typed has 1.
NEAR = {1: 0.99, 2: 0.8}
SHORT_LETTERS = 4
# Longer names are not similar to other words by chance.
SHORT_NAME = 6
LONG_WORD = 7
# Ordinary words that are looked at, the nearest first.
ORDINARY = 5


@frozen
class Corrected:
    """The query to run, and the corrected text to suggest."""

    query: Query
    did_you_mean: str | None = None


def correct(
    project_id: int,
    text: str,
    query: Query,
    lost: frozenset[Term],
    faint: frozenset[Term] = frozenset(),
    *,
    keeps_names: bool = False,
) -> Corrected:
    """Replace terms that no passage has (`lost`) by the nearest known words; a dense run by its pairs.

    Those of which passages have only the beginning (`faint`) are replaced by words of the project that differ
    by a slip: a letter left out, typed twice, or changed with its neighbour.

    Ordinary English words are never corrected. Names are not, and short words only if letters are missing,
    unless no other term of the query is found either.
    """
    is_all_lost = lost >= set(query.wanted)
    names = set() if is_all_lost else names_in(text)
    mistyped = {
        term.surface
        for term in single_words(query)
        if (term in lost or term in faint) and not is_ordinary(term.surface)
    }
    near = find_meant_words(project_id, mistyped) if mistyped else {}
    of_faint = {term.surface for term in faint}
    near = {
        word: _slips(word, near.get(word, [])) if word in of_faint else _nearest(word, near.get(word, []))
        for word in mistyped
    }
    # A word with the stem of the typed one is found no better.
    near = {word: [each for each in some if stem(each[0]) != stem(word)] for word, some in near.items()}
    if not is_all_lost:
        near = {
            word: [(other, n) for other, n in nearest if _is_plausible(word, other, is_name=word in names)]
            for word, nearest in near.items()
            if not (keeps_names and word in names)
        }
    replaced = {term: _replacements(term, near) for term in query.wanted if term in lost or term in faint}
    # A word that the project has not, or only once, may begin as one of its words does.
    replacements = dict(zip(replaced, _with_beginnings(project_id, replaced), strict=True))
    wanted = dict.fromkeys(new for term in query.wanted for new in replacements.get(term, [term]))
    if list(wanted) == list(query.wanted):
        return Corrected(query)
    corrections = {word: words[0][0] for word, words in near.items() if words}
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


Near = Mapping[str, list[tuple[str, int]]]
"""By mistyped word: the words that it may mean, each with its distance."""


def _nearest(word: str, near: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the near words of the project, or an ordinary word that is nearer than these.

    The shorter a word, the more ordinary ones differ from it in a letter: `react` is no reach.
    """
    found = near_words(word, forms_like(word), at_most=ORDINARY)
    ordinary = [(other, n) for other, n in found if len(word) >= LONG_WORD or is_slip(word, other)][:1]
    return ordinary if ordinary and (not near or ordinary[0][1] < near[0][1]) else near


def _slips(word: str, near: list[tuple[str, int]]) -> list[tuple[str, int]]:
    return [(other, n) for other, n in near if n == 1 and is_slip(word, other)]


def _with_beginnings(project_id: int, replaced: Mapping[Term, list[Term]]) -> list[list[Term]]:
    """Return the replacements; those that are words with alternatives by beginnings."""
    words = [new for old, new_terms in replaced.items() for new in new_terms if new != old and new.surface]
    extended = dict(zip(words, with_beginnings(project_id, words), strict=True)) if words else {}
    return [[extended.get(new, new) for new in new_terms] for new_terms in replaced.values()]


def _replacements(term: Term, near: Near) -> list[Term]:
    if words := near.get(term.surface):
        weight = term.weight * NEAR[words[0][1]]
        spellings = _spellings([word for word, _ in words], term)
        return [with_meanings(Term(spellings, words[0][0], weight=weight))]
    [first, *others] = term.spellings
    if not term.surface and not others and not term.prefix and all(len(word) == 2 for word in first):
        return [replace(term, spellings=((pair,),)) for pair in first]
    return [term]


def _is_plausible(word: str, other: str, *, is_name: bool) -> bool:
    """Whether a word of four letters, or a short name, is another with a slip that leaves no doubt.

    A letter left out, said twice or changed with its neighbour: `tokn` is a token, `vite` no site.
    """
    return (len(word) > SHORT_LETTERS and not is_name) or is_slip(word, other)


def _spellings(words: list[str] | tuple[str, ...], term: Term) -> tuple[tuple[str, ...], ...]:
    stems = dict.fromkeys((stem(word),) for word in words)
    return tuple(spelling for spelling in stems if spelling not in term.spellings)


def _corrected_text(text: str, corrections: Mapping[str, str]) -> str:
    """Return the text of the query with the corrected words."""

    def corrected(match: re.Match[str]) -> str:
        return corrections.get(fold(match.group()), match.group())

    return re.sub(r"[^\W_]+", corrected, text)
