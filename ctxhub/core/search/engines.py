"""The same question to SQLite's FTS5 and to PostgreSQL's tsvector: both answer with the same rows.

A query is put together from the analyser's words alone, which are letters and digits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from ctxhub.core import sql
from ctxhub.core.search.documents import EARLIER, OVER, PARTS
from ctxhub.core.search.queries import Query, Term

# Frequencies are counted up to here: what is more common says next to nothing.
COUNTED_TO = 20_000
TYPICAL_SIZE = 60
LOOKED_AT = 100

Scope = Sequence[Sequence[str]]
"""Words that narrow a search: of each inner sequence one must be there."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Where a search looks: rows with these scope words, changed since."""

    scope: Scope
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may answer, the `part`-th of its thing. `words` are those it was found by, `scope` those
    that searches narrow by; `is_over`: it is not in force; `is_earlier`: its thing says something else now.
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
    """In how many passages each term is, counted up to COUNTED_TO."""
    if not terms:
        return []
    engine = _engine()
    one = f"(SELECT count(*) FROM ({engine.found} LIMIT {COUNTED_TO}) c)"  # noqa: S608
    values = [engine.expression(scope, [term]) for term in terms]
    [counts] = sql.rows(f"SELECT {', '.join([one] * len(terms))}", values)
    return list(counts)


def any_entries(project_id: int, terms: Sequence[Term]) -> list[int | None]:
    """For each term an entry that has it, rather a newer one; None where there is none."""
    engine = _engine()
    asked, values = sql.listed([engine.expression([[f"P{project_id}"]], [term]) for term in terms])
    found = engine.found.replace("%s", "asked.value")
    entry = f"SELECT max(id) / {PARTS} FROM ({found} LIMIT {LOOKED_AT}) c"  # noqa: S608
    return [entry_id for (entry_id,) in sql.rows(f"SELECT ({entry}) FROM {asked} ORDER BY asked.key", values)]  # noqa: S608


def find_candidates(
    narrowing: Narrowing, query: Query, weights: Mapping[Term, float], limit: int, count_to: int
) -> tuple[list[Candidate], int]:
    """The passages most likely to answer, at most `limit`; and how many things answer, up to `count_to`."""
    ranked, values = _engine().ranked(narrowing, query, weights)
    # Passages are found and ranked first, and only those that are left are read.
    rows = sql.rows(
        f"""
        WITH found AS MATERIALIZED ({ranked})
        SELECT e.id, e.kind, e.object_id, e.ref, e.updated_at, t.start, t.words, t.size, t.scope,
            t.id - e.id * {PARTS},
            (SELECT count(*) FROM (SELECT DISTINCT id / {PARTS} FROM found LIMIT %s) c)
        FROM (SELECT id FROM found ORDER BY rank, id DESC LIMIT %s) best
        CROSS JOIN core_searchtext t CROSS JOIN core_searchentry e
        WHERE t.id = best.id AND e.id = best.id / {PARTS}""",  # noqa: S608
        [*values, count_to, limit],
    )
    candidates = [_candidate(*columns) for *columns, _ in rows]
    return candidates, rows[0][-1] if rows else 0


def _candidate(entry: int, kind: str, row: int, ref: str, at: Any, *passage: Any) -> Candidate:
    start, words, size, scope, part = passage
    marks = set(scope.split())
    return Candidate(
        entry,
        kind,
        row,
        ref,
        sql.read_time(at),
        start,
        words,
        size,
        OVER in marks,
        scope,
        part,
        EARLIER in marks,
    )


def count_by_kind(narrowing: Narrowing, query: Query) -> dict[str, int]:
    """How many things of each kind answer."""
    if not query.wanted:
        return {}
    engine = _engine()
    also, values = _also(narrowing, query, engine.id)
    rows = sql.rows(
        f"""
        SELECT e.kind, count(*) FROM (SELECT DISTINCT a.id / {PARTS} AS id FROM ({engine.found}{also}) a) b
        CROSS JOIN core_searchentry e WHERE e.id = b.id GROUP BY e.kind""",  # noqa: S608
        [engine.expression(narrowing.scope, query.wanted), *values],
    )
    return {kind: int(count) for kind, count in rows}


def found_object_ids(narrowing: Narrowing, query: Query) -> tuple[str, list[Any]]:
    """A statement for the `id`s of the rows that answer, by which others narrow theirs; with its values."""
    engine = _engine()
    also, values = _also(narrowing, query, engine.id)
    return _objects(f"{engine.found}{also}"), [engine.expression(narrowing.scope, query.wanted), *values]


def read_object_ids(narrowing: Narrowing, query: Query) -> list[int]:
    """The ids of all rows that answer."""
    if not query.wanted:
        return []
    statement, values = found_object_ids(narrowing, query)
    return [row_id for (row_id,) in sql.rows(f"SELECT DISTINCT id FROM ({statement}) f", values)]  # noqa: S608


def first_object_ids(scope: Scope, terms: Sequence[Term], limit: int) -> tuple[str, list[Any]]:
    """Such a statement for the first rows in which all the terms stand; without terms, of all in the scope.

    The oldest are first: FTS5 gives them ten times as fast as the newest.
    """
    engine = _engine()
    first = f"{engine.found} ORDER BY {engine.by_age} LIMIT %s"
    return _objects(first), [engine.expression(scope, terms, needs_all=True), limit]


def read_beginnings(project_id: int, kind: str, object_ids: Sequence[int]) -> list[Candidate]:
    """The first passage of each of these rows."""
    among, values = sql.among("e.object_id", object_ids)
    rows = sql.rows(
        f"""
        SELECT e.id, e.kind, e.object_id, e.ref, e.updated_at, t.start, t.words, t.size, t.scope, 0
        FROM core_searchentry e CROSS JOIN core_searchtext t
        WHERE e.project_id = %s AND e.kind = %s AND {among} AND t.id = e.id * {PARTS}""",  # noqa: S608
        [project_id, kind, *values],
    )
    return [_candidate(*columns) for columns in rows]


def _objects(found: str) -> str:
    return f"""
        SELECT e.object_id AS id FROM ({found}) a CROSS JOIN core_searchentry e
        WHERE e.id = a.id / {PARTS}"""  # noqa: S608


def _also(narrowing: Narrowing, query: Query, row_id: str) -> tuple[str, list[Any]]:
    """What holds beside a wanted term being there: the entry has all of them, where all are needed, none
    that is excluded, and has changed since.
    """
    engine = _engine()
    entry = f"{row_id} / {PARTS}"
    entries = f"SELECT a.id / {PARTS} FROM ({engine.found}) a"  # noqa: S608
    conditions: list[str] = []
    values: list[Any] = []
    if query.needs_all and len(query.wanted) > 1:
        conditions.append(f"{entry} IN ({' INTERSECT '.join([entries] * len(query.wanted))})")
        values += [engine.expression(narrowing.scope, [term]) for term in query.wanted]
    if query.excluded:
        conditions.append(f"{entry} NOT IN ({entries})")
        values.append(engine.expression(narrowing.scope, query.excluded))
    if narrowing.since:
        conditions.append(f"(SELECT updated_at FROM core_searchentry WHERE id = {entry}) >= %s")  # noqa: S608
        values.append(sql.stored_time(narrowing.since))
    return "".join(f" AND {condition}" for condition in conditions), values


class _Sqlite:
    id = "core_searchfts.rowid"
    by_age = "rowid"
    found = "SELECT rowid AS id FROM core_searchfts WHERE core_searchfts MATCH %s"

    def ranked(
        self, narrowing: Narrowing, query: Query, weights: Mapping[Term, float]
    ) -> tuple[str, list[Any]]:
        also, values = _also(narrowing, query, self.id)
        found = self.found.replace("AS id", "AS id, bm25(core_searchfts, 1.0, 0.0) AS rank")
        return f"{found}{also}", [self.expression(narrowing.scope, query.wanted), *values]

    def expression(self, scope: Scope, terms: Sequence[Term], *, needs_all: bool = False) -> str:
        narrowed = " AND ".join(f"({' OR '.join(map(_quoted, words))})" for words in scope)
        asked = (" AND " if needs_all else " OR ").join(f"({self._term(term)})" for term in terms)
        return f"{{scope}} : ({narrowed})" + (f" AND {{words}} : ({asked})" if asked else "")

    def _term(self, term: Term) -> str:
        star = "*" if term.prefix else ""
        spellings = (f"{_quoted(' '.join(words))}{star}" for words in term.spellings)
        return " OR ".join([*spellings, *map(self._term, term.also)])


class _Postgresql:
    """The index is on what `core_search_vector` makes of a row; only a phrase makes it again to look."""

    id = "t.id"
    by_age = "t.id + 0"  # By the id alone it walks the rows, and makes the words of each again to look.
    matches = "core_search_vector(t.words, t.scope) @@ %s::tsquery"
    found = f"SELECT t.id FROM core_searchtext t WHERE {matches}"  # noqa: S608

    def ranked(
        self, narrowing: Narrowing, query: Query, weights: Mapping[Term, float]
    ) -> tuple[str, list[Any]]:
        """ts_rank does not know how rare a word is; so each found term counts what it is worth."""
        also, also_values = _also(narrowing, query, "t.id")
        arm = f"SELECT t.id, t.size, %s::float AS worth FROM core_searchtext t WHERE {self.matches}{also}"  # noqa: S608
        values = [
            value
            for term in query.wanted
            for value in (weights[term], self.expression(narrowing.scope, [term]), *also_values)
        ]
        arms = " UNION ALL ".join([arm] * len(query.wanted))
        rank = f"-sum(u.worth) / (0.55 + 0.45 * u.size / {TYPICAL_SIZE}.0)"
        return f"SELECT u.id, {rank} AS rank FROM ({arms}) u GROUP BY u.id, u.size", values  # noqa: S608

    def expression(self, scope: Scope, terms: Sequence[Term], *, needs_all: bool = False) -> str:
        narrowed = " & ".join(f"({' | '.join(map(_lexeme, words))})" for words in scope)
        asked = (" & " if needs_all else " | ").join(f"({self._term(term)})" for term in terms)
        return narrowed + (f" & ({asked})" if asked else "")

    def _term(self, term: Term) -> str:
        star = ":*" if term.prefix else ""
        spellings = (f"({' <-> '.join(_lexeme(word) for word in words)}{star})" for words in term.spellings)
        return " | ".join([*spellings, *map(self._term, term.also)])


def _quoted(words: str) -> str:
    return f'"{words}"'


def _lexeme(word: str) -> str:
    return f"'{word}'"


_ENGINES: Mapping[str, _Sqlite | _Postgresql] = {"sqlite": _Sqlite(), "postgresql": _Postgresql()}


def _engine() -> _Sqlite | _Postgresql:
    return _ENGINES[connection.vendor]
