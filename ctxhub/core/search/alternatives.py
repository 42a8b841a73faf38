"""What else a word may stand as: its abbreviation, what it abbreviates, its beginning, or more of it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from ctxhub.core.search.abbreviations import meanings
from ctxhub.core.search.queries import LEAST_BEGINNING, MAX_TERMS, Query, Term, parse
from ctxhub.core.search.spelling import known_among
from ctxhub.core.search.stems import stem
from ctxhub.core.search.stop_words import SURFACE

# What these count beside the word itself.
ABBREVIATED, BEGUN = 0.7, 0.5
# Who types so many letters too many at a word's end has mistyped it.
SLIP = 2


def with_meanings(term: Term) -> Term:
    """A word with what it abbreviates, or is abbreviated as."""
    return replace(term, also=(*term.also, *_meanings(term)))


def with_beginnings(project_id: int, terms: Iterable[Term]) -> list[Term]:
    """Words with those that they begin, and with those of the project that begin them: `auth` begins
    `authentication`.
    """
    terms = list(terms)
    begin = {short for term in terms for short in _shorter(term)}
    known = known_among(project_id, begin) if begin else set()
    return [replace(term, also=(*term.also, *_beginnings(term, known))) for term in terms]


def parse_filter(project_id: int, text: str) -> Query:
    """The text by which a list is narrowed: all its words have to be there, or what may stand for each."""
    query = parse(text, needs_all=True)
    return query.with_wanted(with_beginnings(project_id, map(with_meanings, query.wanted[:MAX_TERMS])))


def _meanings(term: Term) -> Iterator[Term]:
    if _is_word(term):
        [[word]] = term.spellings
        if others := meanings(word):
            yield Term(tuple(others), weight=ABBREVIATED)


def _beginnings(term: Term, known: Collection[str]) -> Iterator[Term]:
    if not _is_long(term):
        return
    [[word]] = term.spellings
    whole = word if term.surface.startswith(word) and len(word) >= LEAST_BEGINNING else term.surface
    yield Term(((whole,),), prefix=True, weight=BEGUN)
    stems = dict.fromkeys(stem(short) for short in _shorter(term) if short in known)
    if begun := tuple((short,) for short in stems if short != word):
        yield Term(begun, weight=BEGUN)


def _shorter(term: Term) -> Sequence[str]:
    if not _is_long(term):
        return []
    shorter = (term.surface[:length] for length in range(LEAST_BEGINNING, len(term.surface) - SLIP))
    return [short for short in shorter if short not in SURFACE]


def _is_long(term: Term) -> bool:
    return _is_word(term) and term.surface.isalpha() and len(term.surface) >= LEAST_BEGINNING


def _is_word(term: Term) -> bool:
    return bool(term.surface) and not term.prefix and len(term.spellings) == 1 == len(term.spellings[0])
