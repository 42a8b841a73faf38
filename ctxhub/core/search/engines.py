"""Runs search queries on SQLite (FTS5) or PostgreSQL (tsvector); both return the same rows.

Match expressions contain only the analyser's words, which are letters and digits.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from ctxhub.core.kit import sql
from ctxhub.core.search.documents import EARLIER, OVER, PARTS
from ctxhub.core.search.queries import Query, Term
from ctxhub.core.search.schema import OF_PROJECT

# Frequencies are counted up to this number: a term that is more common has next to no weight.
COUNTED_TO = 20_000
MATCHES_READ = 100
# The rarest terms alone select the candidates if they are in ENOUGH times as many passages as the limit, and
# the other terms together weigh at most WORTH_OF_OTHERS times the least of them. Of the first ten hits of 750
# questions to 10,000 and 50,000 entries 99.9 % are the same as with all terms.
ENOUGH = 8
WORTH_OF_OTHERS = 1.5
# Sizes are read for this many times the limit of passages: those with the highest sums of weights.
SIZES_READ = 3
# Length normalisation: 1 / (73 + size) is, but for a constant factor, 1 / (0.55 + 0.45 * size / 60).
LENGTH_COST = 73
WEIGHT_UNITS = 1_000

Scope = Sequence[Sequence[str]]
"""Filters of a search: a passage must have at least one scope word of each inner sequence.

The first of them has the words of the projects.
"""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The filters of a search: rows with these scope words, last changed at `since` or later."""

    scope: Scope
    since: datetime | None = None


class Candidate(NamedTuple):
    """A passage that may match. `part`: its number within the entry; `words`: its indexed words; `scope`: the
    words that filters match; `is_over`: not in force any more; `is_earlier`: an earlier state of the object.
    """

    entry_id: int
    kind: str
    object_id: int
    ref: str
    updated_at: datetime
    start: int
    words: str
    size: int
    is_over: bool = False
    scope: str = ""
    part: int = 0
    is_earlier: bool = False


def frequencies(scope: Scope, terms: Sequence[Term]) -> list[int]:
    """Return how many passages have each term, counted up to COUNTED_TO."""
    if not terms:
        return []
    engine = _engine()
    count = f"(SELECT count(*) FROM ({engine.found} LIMIT {COUNTED_TO}) c)"
    values = [engine.expression(scope, [term]) for term in terms]
    [counts] = sql.rows(f"SELECT {', '.join([count] * len(terms))}", values)
    return list(counts)


def any_entries(project_id: int, terms: Sequence[Term]) -> list[int | None]:
    """Return for each term the id of an entry that has it, preferably a newer one, or None."""
    engine = _engine()
    matches, values = sql.listed([engine.expression([[f"P{project_id}"]], [term]) for term in terms])
    found = engine.found.replace("%s", "asked.value")
    entry = f"SELECT max(id) / {PARTS} FROM ({found} LIMIT {MATCHES_READ}) c"
    rows = sql.rows(f"SELECT ({entry}) FROM {matches} ORDER BY asked.key", values)
    return [entry_id for (entry_id,) in rows]


def find_candidates(
    narrowing: Narrowing,
    query: Query,
    weights: Mapping[Term, float],
    limit: int,
    count_to: int,
    counts: Mapping[Term, int] | None = None,
) -> tuple[list[Candidate], int]:
    """Return the best passages, at most `limit`, and the number of matching objects, up to `count_to`.

    `counts`: how many passages of the project have each term; they save reading the rows of common terms.
    """
    leading = leading_terms(query, weights, counts or {}, limit)
    dependent = _dependent_terms(query, leading, counts or {})
    candidates = _find_best(narrowing, query, weights, limit, dependent, leading)
    if len(candidates) < limit and dependent:
        candidates = _find_best(narrowing, query, weights, limit)
    entries = len({candidate.entry_id for candidate in candidates})
    if len(candidates) < limit or entries >= count_to:
        return candidates, min(entries, count_to)
    return candidates, _count(narrowing, query, counts or {}, count_to)


def leading_terms(
    query: Query, weights: Mapping[Term, float], counts: Mapping[Term, int], limit: int
) -> Sequence[Term]:
    """Return the rarest terms if they suffice to find the best passages, else all terms.

    A passage that has all other terms scores hardly more than one that has one of the rarest, and reading
    the rows of a common term takes most of a search's time.
    """
    if query.needs_all or not counts:
        return query.wanted
    rarest_first = sorted(query.wanted, key=lambda term: weights[term], reverse=True)
    others, passages = sum(weights[term] for term in rarest_first), 0
    for number, term in enumerate(rarest_first, start=1):
        others -= weights[term]
        passages += counts[term]
        if passages >= ENOUGH * limit and others <= WORTH_OF_OTHERS * weights[term]:
            return rarest_first[:number]
    return query.wanted


def _dependent_terms(query: Query, leading: Sequence[Term], counts: Mapping[Term, int]) -> set[Term]:
    """Return the terms that are matched only together with a leading one: alone they match more rows."""
    passages = sum(counts.get(term, 0) for term in leading)
    return {term for term in query.wanted if term not in leading and counts.get(term, 0) > passages}


def _find_best(
    narrowing: Narrowing,
    query: Query,
    weights: Mapping[Term, float],
    limit: int,
    dependent: Collection[Term] = (),
    leading: Sequence[Term] = (),
) -> list[Candidate]:
    """Return the passages with the highest sums of term weights, normalised by length.

    A term counts once, by its weight. Dependent terms count only together with a leading term. Weights are
    integers here: their sum does not depend on the order of addition, so both engines sort alike.
    """
    engine = _engine()
    clauses, clause_values = _clauses(narrowing, query, "u.id")
    branches = " UNION ALL ".join([engine.branch] * len(query.wanted))
    values: list[Any] = []
    for term in query.wanted:
        groups = [leading, [term]] if term in dependent else [[term]]
        values += [round(weights[term] * WEIGHT_UNITS), engine.expression(narrowing.scope, *groups)]
    # The subquery ranks by id, worth and size; only the rows of the best are read in full.
    rows = sql.rows(
        f"""
        SELECT e.id, e.kind, e.object_id, e.ref, e.updated_at, t.start, t.words, t.size, t.scope,
            t.id - e.id * {PARTS}
        FROM (
            SELECT m.id FROM ({engine.with_sizes(f"{branches}) u WHERE TRUE{clauses}")}) m
            ORDER BY CAST(m.worth AS double precision) / ({LENGTH_COST} + m.size) DESC, m.id DESC LIMIT %s
        ) best CROSS JOIN core_searchtext t CROSS JOIN {engine.entry_of_best}
        WHERE t.id = best.id AND e.id = best.id / {PARTS}""",
        [*values, *clause_values, SIZES_READ * limit, limit],
    )
    return [_candidate(*columns) for columns in rows]


def _count(narrowing: Narrowing, query: Query, counts: Mapping[Term, int], count_to: int) -> int:
    """Return how many objects match, up to `count_to`. Mostly the most common term alone reaches it."""
    most_common = max(query.wanted, key=lambda term: counts.get(term, 0))
    if counts.get(most_common, 0) >= count_to and not query.needs_all:
        counted = _count_by_first_passage(narrowing, query.with_wanted([most_common]), count_to)
        if counted == count_to:
            return counted
    return _count_all(narrowing, query, count_to)


def _count_by_first_passage(narrowing: Narrowing, query: Query, count_to: int) -> int:
    """Return how many objects match in their first passage, up to `count_to`; needs no DISTINCT."""
    engine = _engine()
    clauses, values = _clauses(narrowing, query, engine.id)
    first = f"SELECT 1 FROM ({engine.found}{clauses}) a WHERE a.id = a.id / {PARTS} * {PARTS} LIMIT %s"
    [(count,)] = sql.rows(
        f"SELECT count(*) FROM ({first}) c",
        [engine.expression(narrowing.scope, query.wanted), *values, count_to],
    )
    return int(count)


def _count_all(narrowing: Narrowing, query: Query, count_to: int) -> int:
    engine = _engine()
    clauses, values = _clauses(narrowing, query, engine.id)
    [(count,)] = sql.rows(
        f"SELECT count(*) FROM (SELECT DISTINCT a.id / {PARTS} FROM ({engine.found}{clauses}) a LIMIT %s) c",
        [engine.expression(narrowing.scope, query.wanted), *values, count_to],
    )
    return int(count)


def _candidate(entry_id: int, kind: str, object_id: int, ref: str, at: Any, *passage: Any) -> Candidate:
    start, words, size, scope, part = passage
    marks = f"{scope} "
    return Candidate(
        entry_id,
        kind,
        object_id,
        ref,
        sql.read_time(at),
        start,
        words,
        size,
        f" {OVER} " in marks,
        scope,
        part,
        f" {EARLIER} " in marks,
    )


def count_by_kind(narrowing: Narrowing, query: Query) -> dict[str, int]:
    """Return how many objects of each kind match."""
    if not query.wanted:
        return {}
    engine = _engine()
    clauses, values = _clauses(narrowing, query, engine.id)
    rows = sql.rows(
        f"""
        SELECT e.kind, count(*) FROM (SELECT DISTINCT a.id / {PARTS} AS id FROM ({engine.found}{clauses}) a) b
        CROSS JOIN core_searchentry e WHERE e.id = b.id GROUP BY e.kind""",
        [engine.expression(narrowing.scope, query.wanted), *values],
    )
    return {kind: int(count) for kind, count in rows}


def found_object_ids(narrowing: Narrowing, query: Query) -> tuple[str, list[Any]]:
    """Return SQL that selects the `id`s of the matching rows, for use as a subquery; and its values."""
    engine = _engine()
    clauses, values = _clauses(narrowing, query, engine.id)
    statement = _select_object_ids(f"{engine.found}{clauses}")
    return statement, [engine.expression(narrowing.scope, query.wanted), *values]


def read_object_ids(narrowing: Narrowing, query: Query) -> list[int]:
    """Return the ids of all matching rows."""
    if not query.wanted:
        return []
    statement, values = found_object_ids(narrowing, query)
    return [row_id for (row_id,) in sql.rows(f"SELECT DISTINCT id FROM ({statement}) f", values)]


def first_object_ids(scope: Scope, terms: Sequence[Term], limit: int) -> tuple[str, list[Any]]:
    """Return SQL for the ids of the first rows that have all terms (or are in the scope), and its values.

    The oldest come first: FTS5 returns them ten times as fast as the newest.
    """
    engine = _engine()
    first = f"{engine.found} ORDER BY {engine.by_age} LIMIT %s"
    return _select_object_ids(first), [engine.expression(scope, *([term] for term in terms)), limit]


def read_beginnings(project_id: int, kind: str, object_ids: Sequence[int]) -> list[Candidate]:
    """Return the first passage of each of these rows."""
    among, values = sql.among("e.object_id", object_ids)
    rows = sql.rows(
        f"""
        SELECT e.id, e.kind, e.object_id, e.ref, e.updated_at, t.start, t.words, t.size, t.scope, 0
        FROM core_searchentry e CROSS JOIN core_searchtext t
        WHERE e.project_id = %s AND e.kind = %s AND {among} AND t.id = e.id * {PARTS}""",
        [project_id, kind, *values],
    )
    return [_candidate(*columns) for columns in rows]


def _select_object_ids(found: str) -> str:
    return f"""
        SELECT e.object_id AS id FROM ({found}) a CROSS JOIN core_searchentry e
        WHERE e.id = a.id / {PARTS}"""


def _clauses(narrowing: Narrowing, query: Query, row_id: str) -> tuple[str, list[Any]]:
    """Return further SQL conditions and their values: the entry has all wanted terms if the query needs all,
    no excluded term, and has not changed before `since`.
    """
    engine = _engine()
    entry = f"{row_id} / {PARTS}"
    entries = f"SELECT a.id / {PARTS} FROM ({engine.found}) a"
    conditions: list[str] = []
    values: list[Any] = []
    if query.needs_all and len(query.wanted) > 1:
        conditions.append(f"{entry} IN ({' INTERSECT '.join([entries] * len(query.wanted))})")
        values += [engine.expression(narrowing.scope, [term]) for term in query.wanted]
    if query.excluded:
        conditions.append(f"{entry} NOT IN ({entries})")
        values.append(engine.expression(narrowing.scope, query.excluded))
    if narrowing.since:
        conditions.append(f"(SELECT updated_at FROM core_searchentry WHERE id = {entry}) >= %s")
        values.append(sql.stored_time(narrowing.since))
    return "".join(f" AND {condition}" for condition in conditions), values


class _Sqlite:
    id = "core_searchfts.rowid"
    by_age = "rowid"
    entry_of_best = "core_searchentry e"
    found = "SELECT rowid AS id FROM core_searchfts WHERE core_searchfts MATCH %s"
    # bm25() would take 25 times as long: it reads every size, and counts the words of the scope.
    branch = "SELECT rowid AS id, %s AS worth FROM core_searchfts WHERE core_searchfts MATCH %s"

    def with_sizes(self, branches: str) -> str:
        """Return SQL for id, worth and size of the rows with the highest sums of worth."""
        sums = f"SELECT u.id, sum(u.worth) AS worth FROM ({branches} GROUP BY u.id"
        most = f"{sums} ORDER BY worth DESC, u.id DESC LIMIT %s"
        return f"SELECT s.id, s.worth, t.size FROM ({most}) s CROSS JOIN core_searchtext t WHERE t.id = s.id"

    def expression(self, scope: Scope, *groups: Sequence[Term]) -> str:
        """Match rows of one of the projects that have any term of each group."""
        projects, *filters = scope
        return " OR ".join(f"({self._in_project(project, filters, groups)})" for project in projects)

    def _in_project(self, project: str, filters: Scope, groups: Iterable[Sequence[Term]]) -> str:
        before = f"{project.removeprefix('P')}{OF_PROJECT}"
        wanted = [[self._term(before, term) for term in terms] for terms in groups if terms]
        wanted += [[_quoted(f"P{before}{name}") for name in names] for names in filters]
        return " AND ".join(f"({' OR '.join(each)})" for each in wanted) or _quoted(project)

    def _term(self, before: str, term: Term) -> str:
        star = "*" if term.prefix else ""
        spellings = (
            f"{_quoted(' '.join(f'{before}{word}' for word in words))}{star}" for words in term.spellings
        )
        return f"({' OR '.join([*spellings, *(self._term(before, other) for other in term.also)])})"


class _Postgresql:
    """The index is on the expression `core_search_vector(words, scope)`; only phrases compute it again."""

    id = "t.id"
    by_age = "t.id + 0"  # Ordered by the bare id it scans the rows, and computes the vector of each.
    # OFFSET 0 forces a lookup by id for each row; a plain join reads the whole table to find a hundred.
    entry_of_best = f"""LATERAL (
            SELECT id, kind, object_id, ref, updated_at FROM core_searchentry
            WHERE id = best.id / {PARTS} OFFSET 0) e"""
    found = "SELECT t.id FROM core_searchtext t WHERE core_search_vector(t.words, t.scope) @@ %s::tsquery"
    branch = found.replace("t.id", "t.id, t.size, %s::int AS worth")

    def with_sizes(self, branches: str) -> str:
        sums = f"SELECT u.id, u.size, sum(u.worth) AS worth FROM ({branches} GROUP BY u.id, u.size"
        return f"{sums} ORDER BY worth DESC, u.id DESC LIMIT %s"

    def expression(self, scope: Scope, *groups: Sequence[Term]) -> str:
        """Match rows that have any term of each group."""
        filters = [f"({' | '.join(map(_lexeme, words))})" for words in scope]
        wanted = [f"({' | '.join(map(self._term, terms))})" for terms in groups if terms]
        return " & ".join([*filters, *wanted])

    def _term(self, term: Term) -> str:
        star = ":*" if term.prefix else ""
        spellings = (f"({' <-> '.join(_lexeme(word) for word in words)}{star})" for words in term.spellings)
        return f"({' | '.join([*spellings, *map(self._term, term.also)])})"


def _quoted(words: str) -> str:
    return f'"{words}"'


def _lexeme(word: str) -> str:
    return f"'{word}'"


_SQLITE, _POSTGRESQL = _Sqlite(), _Postgresql()


def _engine() -> _Sqlite | _Postgresql:
    return _SQLITE if sql.is_sqlite() else _POSTGRESQL
