"""Document frequencies of the terms of a query, each looked up once."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ctxhub.core import registry
from ctxhub.core.kit import sql
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.search.engines import Scope
from ctxhub.core.search.matches import LARGE, SHARE, frequencies, frequencies_of, holds_most, passages_of_hub
from ctxhub.core.search.queries import Term
from ctxhub.core.search.stored_counts import read_counts, store_later, stored_counts_of

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
    `passages`: those of the hub, as `holds_most` takes them.
    """

    def __init__(self, project_id: int, objects: int = 0, passages: float | None = None) -> None:
        self._project_id = project_id
        self._objects = objects
        self._passages = passages
        self._is_large = objects >= LARGE
        self._common = COMMON_IN_LARGE if self._is_large else COMMON
        self._known: dict[TermKey, int] = {}

    def look_up(self, terms: Iterable[Term]) -> None:
        """Count the terms and their alternatives: in one statement, or none if all are known."""
        alone = _alone(terms)
        self._known |= _recall(self._project_id, alone.keys() - self._known.keys())
        if self._is_large:
            self._learn(self._read_stored(alone.keys() - self._known.keys()))
        self._count({key: term for key, term in alone.items() if key not in self._known})

    def _count(self, terms: Mapping[TermKey, Term]) -> None:
        if not terms:
            return
        counts = frequencies(_scope(self._project_id), [*terms.values()], by_row=self.by_row)
        counted = dict(zip(terms, counts, strict=True))
        self._learn(counted)
        self._store(map(_name, counted))

    def _store(self, names: Iterable[str]) -> None:
        """Store the counts of those terms that are common, if the project is large."""
        if self._is_large:
            wanted = set(names)
            counts = {_name(key): count for key, count in self._known.items() if count >= self._common}
            store_later(self._project_id, {name: n for name, n in counts.items() if name in wanted})

    @cached_property
    def by_row(self) -> bool:
        """As `holds_most` says of the project."""
        return holds_most(self._objects, self._passages)

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


def look_up_first(project_id: int, terms: Iterable[Term]) -> tuple[dict[str, int], Counts]:
    """Return about how many objects of each kind are searchable, and the counts of the terms.

    In one statement: it chooses how to count, and counts only what is not stored, as `Counts` does.
    """
    alone = _alone(terms)
    recalled = _recall(project_id, alone.keys())
    new = {_name(key): key for key in alone if key not in recalled}
    asked = {name: alone[key] for name, key in new.items()}
    read = _read_of_small if _sizes.get(project_id, LARGE) < LARGE / 2 else _read
    entries, passages, counts, stored = read(project_id, asked)
    _sizes[project_id] = total = sum(entries.values())
    found = Counts(project_id, total, passages)
    found._known |= recalled
    found._learn(dict(zip(new.values(), counts, strict=True)))
    found._store(new.keys() - set(stored))
    return entries, found


FirstRead = tuple[dict[str, int], float | None, Sequence[int], Sequence[str]]
"""The objects of each kind, the passages of the hub (None: not read), the counts, what of them was stored."""


def _read_of_small(project_id: int, terms: Mapping[str, Term]) -> FirstRead:
    """As `_read` does of a project that a moment ago was far from large."""
    sizes, size_values = sizes_of(project_id)
    counted, values = frequencies_of(_scope(project_id), [*terms.values()])
    of_kinds = f"SELECT {sql.json_list(sql.json_array('noun', 'objects'))} FROM ({sizes}) s"
    [(read, *counts)] = sql.rows(f"SELECT {', '.join([f'({of_kinds})', *counted])}", [*size_values, *values])
    return _entries(read), None, counts, ()


def _read(project_id: int, terms: Mapping[str, Term]) -> FirstRead:
    sizes, size_values = sizes_of(project_id)
    stored, stored_values = stored_counts_of(project_id, terms)
    counted, count_values = _counted(project_id, terms)
    of_kinds = f"(SELECT {sql.json_list(sql.json_array('noun', 'objects'))} FROM sizes)"
    of_stored = f"(SELECT {sql.json_list('term')} FROM stored)"
    [(sizes_read, passages, stored_read, *counts)] = sql.rows(
        f"""
        WITH sizes AS ({sizes}),
            total AS (SELECT coalesce(sum(objects), 0) AS objects FROM sizes),
            hub AS (
                SELECT CASE WHEN total.objects >= {LARGE} THEN {passages_of_hub()} END AS passages
                FROM total),
            stored AS (
                SELECT s.term, s.count FROM ({stored}) s CROSS JOIN total WHERE total.objects >= {LARGE})
        SELECT {", ".join([of_kinds, "hub.passages", of_stored, *counted])}
        FROM total CROSS JOIN hub""",
        [*size_values, *stored_values, *count_values],
    )
    return _entries(sizes_read), passages, counts, sql.read_json(stored_read) or ()


def _entries(read: Any) -> dict[str, int]:
    return {kind: int(objects) for kind, objects in sql.read_json(read) or ()}


def _counted(project_id: int, terms: Mapping[str, Term]) -> tuple[list[str], list[Any]]:
    """Return an SQL expression for the count of each of these terms, by name: the stored one, else counted
    as `holds_most` says; and their values.
    """
    scope = _scope(project_id)
    by_list, list_values = frequencies_of(scope, [*terms.values()])
    by_row, row_values = frequencies_of(scope, [*terms.values()], by_row=True)
    expressions, values = [], list[Any]()
    for name, listed, of_rows, list_value, row_value in zip(
        terms, by_list, by_row, list_values, row_values, strict=True
    ):
        choice = f"CASE WHEN total.objects >= {SHARE} * hub.passages THEN {of_rows} ELSE {listed} END"
        count = listed if sql.is_sqlite() else choice
        expressions.append(f"coalesce((SELECT s.count FROM stored s WHERE s.term = %s), {count})")
        values += [name, *([] if sql.is_sqlite() else [row_value]), list_value]
    return expressions, values


def sizes_of(project_id: int) -> tuple[str, list[Any]]:
    """Return SQL for each searchable `noun` and the number of its `objects`, of the stored counters."""
    among, values = sql.among("noun", [noun.kind for noun in registry.searched_nouns()])
    statement = f"""
        SELECT noun, sum(count) AS objects FROM core_tally WHERE project_id = %s AND {among} GROUP BY noun"""
    return statement, [project_id, *values]


def _scope(project_id: int) -> Scope:
    return [[f"P{project_id}"]]


def _alone(terms: Iterable[Term]) -> dict[TermKey, Term]:
    return {_key(each): each.alone for term in terms for each in (term, *term.also)}


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
# How many objects each project had when it was last searched.
_sizes: dict[int, int] = {}
when_replaced.extend((_remembered.clear, _sizes.clear))
