"""Adds alternatives to the terms of a query: abbreviations, long forms, prefixes, words with the prefix."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from ctxhub.core.search.abbreviations import meanings, short_forms
from ctxhub.core.search.documents import kind_word
from ctxhub.core.search.engines import Narrowing, Scope
from ctxhub.core.search.matches import read_object_ids
from ctxhub.core.search.queries import LEAST_BEGINNING, MAX_TERMS, Query, Term, parse
from ctxhub.core.search.spelling import known_among
from ctxhub.core.search.stems import stem
from ctxhub.core.search.stop_words import SURFACE

# Weights of alternatives; the word itself has 1.
ABBREVIATION_WEIGHT, PREFIX_WEIGHT = 0.7, 0.5
# A known word that lacks this many letters of the term, or fewer, is a matter of spelling correction.
MAX_SURPLUS = 2
# The words of the longest phrase that has an abbreviation (role based access control).
LONGEST_PHRASE = 4


def with_meanings(term: Term) -> Term:
    """Return the term with its abbreviations and long forms as alternatives."""
    return replace(term, also=(*term.also, *_abbreviation_alternatives(term)))


def all_with_meanings(terms: Sequence[Term]) -> list[Term]:
    """Like `with_meanings` for the terms of a query; adjacent words get the abbreviation of them together."""
    found = list(map(with_meanings, terms))
    for start in range(len(terms)):
        for end in range(start + 2, min(start + LONGEST_PHRASE, len(terms)) + 1):
            phrase = terms[start:end]
            if not all(map(_is_word, phrase)):
                break
            if shorts := short_forms(tuple(term.spellings[0][0] for term in phrase)):
                short = Term(tuple((short,) for short in shorts), weight=ABBREVIATION_WEIGHT)
                found[start:end] = [replace(term, also=(*term.also, short)) for term in found[start:end]]
    return found


def with_beginnings(project_id: int, terms: Iterable[Term]) -> list[Term]:
    """Return terms with two more alternatives: words that begin with the term (`authentication` for `auth`),
    and words of the project that the term begins with.
    """
    terms = list(terms)
    prefixes = {prefix for term in terms for prefix in _prefixes(term)}
    known = known_among(project_id, prefixes) if prefixes else set()
    return [replace(term, also=(*term.also, *_prefix_alternatives(term, known))) for term in terms]


def parse_filter(project_id: int, text: str) -> Query:
    """Parse the text filter of a list: a row must have all words, each as such or as an alternative."""
    query = parse(text, needs_all=True)
    return query.with_wanted(with_beginnings(project_id, all_with_meanings(query.wanted[:MAX_TERMS])))


def ids_with_words(project_id: int, kind: str, text: str, scope: Scope = ()) -> list[int]:
    """The ids of the rows of a kind that pass a text filter ("a phrase", -not, prefix*) and the scope."""
    narrowing = Narrowing([[f"P{project_id}"], [kind_word(kind)], *scope])
    return read_object_ids(narrowing, parse_filter(project_id, text))


def _abbreviation_alternatives(term: Term) -> Iterator[Term]:
    if _is_word(term):
        [[word]] = term.spellings
        if others := meanings(word):
            yield Term(tuple(others), weight=ABBREVIATION_WEIGHT)


def _prefix_alternatives(term: Term, known: Collection[str]) -> Iterator[Term]:
    if not _is_long(term):
        return
    [[word]] = term.spellings
    prefix = word if term.surface.startswith(word) and len(word) >= LEAST_BEGINNING else term.surface
    yield Term(((prefix,),), prefix=True, weight=PREFIX_WEIGHT)
    stems = dict.fromkeys(stem(short) for short in _prefixes(term) if short in known)
    if spellings := tuple((short,) for short in stems if short != word):
        yield Term(spellings, weight=PREFIX_WEIGHT)


def _prefixes(term: Term) -> Sequence[str]:
    if not _is_long(term):
        return []
    prefixes = (term.surface[:length] for length in range(LEAST_BEGINNING, len(term.surface) - MAX_SURPLUS))
    return [prefix for prefix in prefixes if prefix not in SURFACE]


def _is_long(term: Term) -> bool:
    return _is_word(term) and term.surface.isalpha() and len(term.surface) >= LEAST_BEGINNING


def _is_word(term: Term) -> bool:
    return bool(term.surface) and not term.prefix and len(term.spellings) == 1 == len(term.spellings[0])
