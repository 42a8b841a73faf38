"""Parses the text of a query into terms. User input never reaches an engine as syntax."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.analyser import Piece, analyse, pieces, runs
from ctxhub.core.search.stems import stem, with_and_without_article
from ctxhub.core.search.stop_words import STOP_WORDS, SURFACE

MAX_TERMS = 32
MAX_SIDE_BY_SIDE = 256
# Further chunks are ignored: a long text says what it is about at its beginning.
MAX_CHUNKS = 8 * MAX_TERMS
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
# A run of a script without spaces is one word up to so many characters, else a sentence.
DENSE_WORD = 3
# Endings that complete a typed prefix to words whose stems it should find.
ENDINGS = ("", "e", "n", "g", "ng", "d", "y", "s", "t")
LEAST_BEGINNING = 4

_REASONS = re.compile(r"\b(?:why|reasons?|how come)\b|為什麼|为什么|為何|为何|原因|理由", re.IGNORECASE)
_CHUNK = re.compile(r'(?P<minus>(?<!\S)-(?="|[^\W\d_]))?(?:"(?P<phrase>[^"]*)"|(?P<plain>[^\s"]+))')
_DATE = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])")


@frozen
class Term:
    """One term of a query: matches any of the `spellings`; each is a phrase of one or more words.

    `prefix`: the last word is a prefix. `surface`: the typed word, or "" if it is no subject of spelling
    correction. `weight`: relative to the other terms. `also`: alternatives that count where the term itself
    is missing; their `weight` is the share of its weight.
    """

    spellings: tuple[tuple[str, ...], ...]
    surface: str = ""
    prefix: bool = False
    weight: float = 1.0
    also: "tuple[Term, ...]" = ()

    def __hash__(self) -> int:
        """Of the first words alone: ranking looks terms up hundreds of times."""
        return hash(self.spellings[0])

    @property
    def alone(self) -> "Term":
        """The term without its alternatives."""
        return replace(self, also=()) if self.also else self


@frozen
class Query:
    """The `wanted` and the `excluded` terms. `needs_all`: every wanted term must match, else any."""

    wanted: tuple[Term, ...]
    excluded: tuple[Term, ...] = ()
    needs_all: bool = False

    def with_wanted(self, wanted: Iterable[Term]) -> "Query":
        return replace(self, wanted=tuple(wanted))


def asks_for_reasons(text: str) -> bool:
    return bool(_REASONS.search(text))


def parse(text: str, *, needs_all: bool = False) -> Query:
    """Parse a query. Syntax: "a phrase", -not, prefix*; everything else is words.

    Stop words are dropped, unless there are no others.
    """
    wanted: list[Term] = []
    excluded: list[Term] = []
    for chunk in islice(_CHUNK.finditer(text), MAX_CHUNKS):
        terms = [_with_articles(term) for term in _terms(chunk, needs_all or bool(chunk["minus"]))]
        (excluded if chunk["minus"] else wanted).extend(terms)
    significant = [term for term in wanted if not _is_stop_word(term)]
    return Query(_distinct(significant or wanted), _distinct(excluded), needs_all)


def parse_typed(text: str) -> Query:
    """Parse the search box of a list: all terms must match, the last word as a prefix."""
    query = parse(text, needs_all=True)
    last = list(_CHUNK.finditer(text))[-1:]
    if not last or last[0]["minus"] or last[0]["phrase"] is not None:
        return query
    found = [piece for run in runs(last[0]["plain"]) for piece in pieces(run.group())]
    unfinished = list(_terms(last[0], True))[-1:] if found and not found[-1].is_dense else []
    prefixes = {term: _as_prefix(term, found[-1].surface) for term in unfinished}
    return query.with_wanted(prefixes.get(term, term) for term in query.wanted)


def parse_similarity(text: str) -> Query:
    """Parse a whole text into its words, the most frequent first, to find similar objects."""
    counts = Counter(word for word in analyse(text) if word not in STOP_WORDS and _is_word(word))
    words = [word for word, _ in counts.most_common(2 * MAX_TERMS)]
    return Query(tuple(Term(((word,),), word, weight=1 + min(counts[word], 4) / 4) for word in words))


def single_words(query: Query) -> list[Term]:
    """Return the wanted terms of a single word, which spelling correction may change."""
    return [term for term in query.wanted if term.surface and not term.prefix]


def _as_prefix(term: Term, surface: str) -> Term:
    """Return the term as a prefix, both stemmed and as typed: the typed text may be longer than the stem."""
    if len(surface) < 2:
        return term
    spellings = ((*words[:-1], last) for words in term.spellings for last in (words[-1], surface))
    return replace(term, spellings=tuple(dict.fromkeys(spellings)), prefix=True)


def _terms(chunk: re.Match[str], exact: bool) -> Iterator[Term]:
    if chunk["phrase"] is not None:
        yield from _phrase(chunk["phrase"])
        return
    plain = chunk["plain"]
    found = [piece for run in runs(plain) for piece in pieces(run.group())]
    if len(found) == 1 and _is_prefix(plain, found[0]):
        yield Term(tuple(_beginnings(found[0].surface)), prefix=True)
        return
    for is_dense, group in groupby(found, key=lambda piece: piece.is_dense):
        if is_dense:
            yield from chain.from_iterable(_dense(piece, exact) for piece in group)
        else:
            yield from _compound(plain, list(group), exact)


def _is_prefix(plain: str, piece: Piece) -> bool:
    return plain.endswith("*") and not piece.is_dense and len(piece.surface) >= 2


def _beginnings(typed: str) -> Iterator[tuple[str]]:
    """Yield the typed prefix, and shorter stems of words with it: `migrati*` must find the stem `migrat`."""
    yield (typed,)
    stems = dict.fromkeys(stem(typed + ending) for ending in ENDINGS)
    yield from ((short,) for short in stems if not short.startswith(typed) and len(short) >= LEAST_BEGINNING)


def _phrase(text: str) -> Iterator[Term]:
    """Words side by side. A run of pairs ends in its last character alone, where something follows it."""
    found = [piece for run in runs(text) for piece in pieces(run.group())]
    words = [word for piece in found[:-1] for word in piece.words]
    if not found:
        return
    last = found[-1]
    if not last.is_dense:
        yield Term(((*words, *last.words),))
    elif len(last.words) == 1:
        yield Term(((*words, *last.words),), prefix=True)
    else:
        yield Term(((*words, *last.words[:-1]),))


def _dense(piece: Piece, exact: bool) -> Iterator[Term]:
    """Yield terms for a dense run: one character is a prefix, a few are a word, more give a term per pair."""
    pairs = piece.words[:-1]
    if not pairs:
        yield Term((piece.words,), prefix=True)
    elif exact or len(piece.words) <= DENSE_WORD:
        yield Term((pairs,))
    else:
        yield from (Term(((pair,),)) for pair in pairs)


def _compound(plain: str, found: Sequence[Piece], exact: bool) -> Iterator[Term]:
    """Yield terms for `user-service`, `api/auth`, `v1.2.3` or a date: each word, and all as a phrase."""
    if date := _DATE.fullmatch(plain.strip("().,;:?!")):
        year, month, day = date.groups()
        name = analyse(MONTHS[int(month) - 1])[0]
        yield Term(((year, month, day), (year, name, day.lstrip("0"))))
        return
    phrase = tuple(word for piece in found for word in piece.words)
    if exact:
        if phrase:
            yield Term(_spellings(found, phrase), found[0].surface if len(found) == 1 else "")
        return
    for piece in found:
        if len(found) == 1 or len(piece.surface) > 1:
            yield Term((piece.words,), piece.surface)
            yield from (Term(((part,),), weight=0.5) for part in piece.parts)
    if len(phrase) > 1:
        yield Term((phrase,), weight=0.5)


def _spellings(found: Sequence[Piece], phrase: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the phrase, and the phrase of the parts of identifiers: `getUserName`, `get user name`."""
    parts = tuple(word for piece in found for word in (piece.parts or piece.words))
    return (phrase,) if parts == phrase else (phrase, parts)


def _with_articles(term: Term) -> Term:
    """An Arabic word also matches with the article, or without it."""
    [[*first], *others] = term.spellings
    if len(first) != 1 or others or term.prefix or len(forms := with_and_without_article(first[0])) == 1:
        return term
    return replace(term, spellings=tuple((form,) for form in forms))


def _is_stop_word(term: Term) -> bool:
    words = {word for spelling in term.spellings for word in spelling}
    return not term.prefix and (term.surface in SURFACE or words <= STOP_WORDS)


def _is_word(word: str) -> bool:
    return len(word) > 1 and not word.isdigit()


def _distinct(terms: Iterable[Term]) -> tuple[Term, ...]:
    first: dict[tuple[object, bool], Term] = {}
    for term in map(_bounded, terms):
        first.setdefault((term.spellings, term.prefix), term)
    return tuple(first.values())


def _bounded(term: Term) -> Term:
    """Cut phrases to MAX_SIDE_BY_SIDE words: PostgreSQL's stack overflows at some thousand."""
    if max(map(len, term.spellings)) <= MAX_SIDE_BY_SIDE:
        return term
    return replace(term, spellings=tuple(words[:MAX_SIDE_BY_SIDE] for words in term.spellings), prefix=False)
