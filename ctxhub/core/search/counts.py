"""Document frequencies of the terms of a query, each looked up once."""

import time
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.search.matches import LARGE, frequencies, holds_most
from ctxhub.core.search.queries import Term
from ctxhub.core.search.stored_counts import read_counts, store_later

TermKey = tuple[tuple[tuple[str, ...], ...], bool]
"""The spellings of a term, and whether they are prefixes."""

# Counting a common term takes up to 10 ms, and a few passages more hardly change its weight.
COMMON = 1_000
# In large projects the passages of less common terms lie far apart: PostgreSQL takes 2 ms for 500.
COMMON_IN_LARGE = 100
REMEMBERED_SECONDS = 600.0
MOST_REMEMBERED = 10_000


class Counts:
    """The number of passages of a project that have a term; its alternatives are counted separately.

    Those of common terms may be ten minutes old; a day if the project is large, with so many `objects`.
    """

    def __init__(self, project_id: int, objects: int = 0) -> None:
        self._project_id = project_id
        self._objects = objects
        self._is_large = objects >= LARGE
        self._common = COMMON_IN_LARGE if self._is_large else COMMON
        self._known: dict[TermKey, int] = {}

    def look_up(self, terms: Iterable[Term]) -> None:
        """Count the terms and their alternatives: in one statement, or none if all are known."""
        alone = {_key(each): each.alone for term in terms for each in (term, *term.also)}
        self._known |= _recall(self._project_id, alone.keys() - self._known.keys())
        if self._is_large:
            self._learn(self._read_stored(alone.keys() - self._known.keys()))
        new = {key: term for key, term in alone.items() if key not in self._known}
        if not new:
            return
        scope = [[f"P{self._project_id}"]]
        counted = dict(zip(new, frequencies(scope, [*new.values()], by_row=self.by_row), strict=True))
        self._learn(counted)
        if self._is_large:
            common = {_name(key): count for key, count in counted.items() if count >= self._common}
            store_later(self._project_id, common)

    @cached_property
    def by_row(self) -> bool:
        """As `holds_most` says of the project."""
        return holds_most(self._objects)

    def _learn(self, counts: Mapping[TermKey, int]) -> None:
        self._known |= counts
        _remember(self._project_id, {key: n for key, n in counts.items() if n >= self._common})

    def _read_stored(self, keys: Iterable[TermKey]) -> dict[TermKey, int]:
        named = {_name(key): key for key in keys}
        return {named[name]: count for name, count in read_counts(self._project_id, named).items()}

    def of(self, term: Term) -> int:
        """Return the count of the term itself."""
        return self._known[_key(term)]

    def found(self, term: Term) -> bool:
        """Whether any passage has the term or one of its alternatives."""
        return any(self.of(one) for one in (term, *term.also))

    def of_all(self, terms: Collection[Term]) -> Mapping[Term, int]:
        """Return the count of each term, or that of its most common alternative if it has none.

        For terms with alternatives also that of each alone.
        """
        alone = {one.alone: self.of(one) for term in terms if term.also for one in (term, *term.also)}
        return alone | {term: self.of(term) or max(map(self.of, term.also), default=0) for term in terms}


def _key(term: Term) -> TermKey:
    return term.spellings, term.prefix


def _name(key: TermKey) -> str:
    """How a term is stored. Its words are letters and digits."""
    spellings, is_prefix = key
    return "|".join(" ".join(words) for words in spellings) + "*" * is_prefix


def _recall(project_id: int, keys: Iterable[TermKey]) -> dict[TermKey, int]:
    oldest = time.monotonic() - REMEMBERED_SECONDS
    remembered = {key: _remembered.get((project_id, key), (0, 0.0)) for key in keys}
    return {key: count for key, (count, at) in remembered.items() if count and at >= oldest}


def _remember(project_id: int, counts: Mapping[TermKey, int]) -> None:
    if len(_remembered) > MOST_REMEMBERED:
        _remembered.clear()
    now = time.monotonic()
    _remembered.update({(project_id, key): (count, now) for key, count in counts.items()})


_remembered: dict[tuple[int, TermKey], tuple[int, float]] = {}
when_replaced.append(_remembered.clear)
