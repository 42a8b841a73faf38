"""The same question to SQLite's FTS5 and to PostgreSQL's tsvector: both answer with the same rows.

A query is put together from the analyser's words alone, which are letters and digits.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.search.documents import EARLIER, OVER, PARTS
from ctxhub.core.search.queries import Query, Term

# Frequencies are counted up to here: what is more common says next to nothing.
COUNTED_TO = 20_000
LOOKED_AT = 100
# The rarest terms lead to the candidates where they are in so many times as many passages as are wanted, and
# the others together are worth at most so much of the least of them. Of the first ten hits of 750 questions
# to 10,000 and 50,000 entries 99.9 % are the same as if all terms led.
ENOUGH = 8
WORTH_OF_OTHERS = 1.5
# The length is looked up of so many times as many passages as are wanted: those that have most of the terms.
MEASURED = 3
# A passage of 60 words counts fully: 1 / (0.55 + 0.45 * size / 60), but for a factor.
LENGTH_COST = 73
WEIGHT_UNITS = 1_000

Scope = Sequence[Sequence[str]]
"""Words that narrow a search: of each inner sequence one must be there."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Where a search looks: rows with these scope words, changed since."""

    scope: Scope
    since: datetime | None = None


class Candidate(NamedTuple):
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
    narrowing: Narrowing,
    query: Query,
    weights: Mapping[Term, float],
    limit: int,
    count_to: int,
    counts: Mapping[Term, int] | None = None,
) -> tuple[list[Candidate], int]:
    """The passages most likely to answer, at most `limit`; and how many things answer, up to `count_to`.

    `counts`: in how many passages of the project each term is; with them common terms need not be walked.
    """
    telling = telling_terms(query, weights, counts or {}, limit)
    followers = _followers(query, telling, counts or {})
    candidates = _best(narrowing, query, weights, limit, followers, telling)
    if len(candidates) < limit and followers:
        candidates = _best(narrowing, query, weights, limit)
    things = len({candidate.entry_id for candidate in candidates})
    if len(candidates) < limit or things >= count_to:
        return candidates, min(things, count_to)
    return candidates, _count(narrowing, query, counts or {}, count_to)


def telling_terms(
    query: Query, weights: Mapping[Term, float], counts: Mapping[Term, int], limit: int
) -> Sequence[Term]:
    """The rarest terms, by which the best passages are found already, or all.

    What has none of them but all the others is hardly worth more than what has one of them; and to walk
    through the passages of a common term takes most of a search's time.
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


def _followers(query: Query, telling: Sequence[Term], counts: Mapping[Term, int]) -> set[Term]:
    """The terms that count only beside a telling one: those for which it takes longer to walk alone."""
    passages = sum(counts.get(term, 0) for term in telling)
    return {term for term in query.wanted if term not in telling and counts.get(term, 0) > passages}


def _best(
    narrowing: Narrowing,
    query: Query,
    weights: Mapping[Term, float],
    limit: int,
    followers: Collection[Term] = (),
    telling: Sequence[Term] = (),
) -> list[Candidate]:
    """The passages with the most of all terms, the shorter first; followers count beside a telling term.

    A term counts once, by its weight. Weights are whole numbers here: in whichever order they are added the
    sum is the same, and so is the order on both engines.
    """
    engine = _engine()
    also, also_values = _also(narrowing, query, "u.id")
    branches = " UNION ALL ".join([engine.branch] * len(query.wanted))
    values: list[Any] = []
    for term in query.wanted:
        asked = [telling, [term]] if term in followers else [[term]]
        values += [round(weights[term] * WEIGHT_UNITS), engine.expression(narrowing.scope, *asked)]
    # Passages are found and ranked first, and only those that are left are read.
    rows = sql.rows(
        f"""
        SELECT e.id, e.kind, e.object_id, e.ref, e.updated_at, t.start, t.words, t.size, t.scope,
            t.id - e.id * {PARTS}
        FROM (
            SELECT m.id FROM ({engine.with_sizes(f"{branches}) u WHERE TRUE{also}")}) m
            ORDER BY CAST(m.worth AS double precision) / ({LENGTH_COST} + m.size) DESC, m.id DESC LIMIT %s
        ) best CROSS JOIN core_searchtext t CROSS JOIN {engine.entry_of_best}
        WHERE t.id = best.id AND e.id = best.id / {PARTS}""",  # noqa: S608
        [*values, *also_values, MEASURED * limit, limit],
    )
    return [_candidate(*columns) for columns in rows]


def _count(narrowing: Narrowing, query: Query, counts: Mapping[Term, int], count_to: int) -> int:
    """How many things answer, up to `count_to`. A common term begins that many by itself, mostly."""
    most_common = max(query.wanted, key=lambda term: counts.get(term, 0))
    if counts.get(most_common, 0) >= count_to and not query.needs_all:
        counted = _count_beginnings(narrowing, query.with_wanted([most_common]), count_to)
        if counted == count_to:
            return counted
    return _count_all(narrowing, query, count_to)


def _count_beginnings(narrowing: Narrowing, query: Query, count_to: int) -> int:
    """How many things answer by their first passage, up to `count_to`: nothing has to be sorted for that."""
    engine = _engine()
    also, values = _also(narrowing, query, engine.id)
    first = f"SELECT 1 FROM ({engine.found}{also}) a WHERE a.id = a.id / {PARTS} * {PARTS} LIMIT %s"  # noqa: S608
    [(count,)] = sql.rows(
        f"SELECT count(*) FROM ({first}) c",  # noqa: S608
        [engine.expression(narrowing.scope, query.wanted), *values, count_to],
    )
    return int(count)


def _count_all(narrowing: Narrowing, query: Query, count_to: int) -> int:
    engine = _engine()
    also, values = _also(narrowing, query, engine.id)
    [(count,)] = sql.rows(
        f"SELECT count(*) FROM (SELECT DISTINCT a.id / {PARTS} FROM ({engine.found}{also}) a LIMIT %s) c",  # noqa: S608
        [engine.expression(narrowing.scope, query.wanted), *values, count_to],
    )
    return int(count)


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
    return _objects(first), [engine.expression(scope, *([term] for term in terms)), limit]


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
    entry_of_best = "core_searchentry e"
    found = "SELECT rowid AS id FROM core_searchfts WHERE core_searchfts MATCH %s"
    # bm25() would take 25 times as long as the walk: it reads every size, and counts the words of the scope.
    branch = "SELECT rowid AS id, %s AS worth FROM core_searchfts WHERE core_searchfts MATCH %s"

    def with_sizes(self, branches: str) -> str:
        """The ids that most worths have been found for, with their sums and sizes."""
        sums = f"SELECT u.id, sum(u.worth) AS worth FROM ({branches} GROUP BY u.id"  # noqa: S608
        most = f"{sums} ORDER BY worth DESC, u.id DESC LIMIT %s"
        return f"SELECT s.id, s.worth, t.size FROM ({most}) s CROSS JOIN core_searchtext t WHERE t.id = s.id"  # noqa: S608

    def expression(self, scope: Scope, *asked: Sequence[Term]) -> str:
        narrowed = " AND ".join(f"({' OR '.join(map(_quoted, words))})" for words in scope)
        wanted = " AND ".join(f"({' OR '.join(map(self._term, terms))})" for terms in asked if terms)
        return f"{{scope}} : ({narrowed})" + (f" AND {{words}} : ({wanted})" if wanted else "")

    def _term(self, term: Term) -> str:
        star = "*" if term.prefix else ""
        spellings = (f"{_quoted(' '.join(words))}{star}" for words in term.spellings)
        return f"({' OR '.join([*spellings, *map(self._term, term.also)])})"


class _Postgresql:
    """The index is on what `core_search_vector` makes of a row; only a phrase makes it again to look."""

    id = "t.id"
    by_age = "t.id + 0"  # By the id alone it walks the rows, and makes the words of each again to look.
    # OFFSET: each is looked up by its id. Joined as a table, all of it would be read, to find a hundred.
    entry_of_best = f"""LATERAL (
            SELECT id, kind, object_id, ref, updated_at FROM core_searchentry
            WHERE id = best.id / {PARTS} OFFSET 0) e"""  # noqa: S608
    found = "SELECT t.id FROM core_searchtext t WHERE core_search_vector(t.words, t.scope) @@ %s::tsquery"
    branch = found.replace("t.id", "t.id, t.size, %s::int AS worth")

    def with_sizes(self, branches: str) -> str:
        sums = f"SELECT u.id, u.size, sum(u.worth) AS worth FROM ({branches} GROUP BY u.id, u.size"  # noqa: S608
        return f"{sums} ORDER BY worth DESC, u.id DESC LIMIT %s"

    def expression(self, scope: Scope, *asked: Sequence[Term]) -> str:
        """Of each of the `asked` any has to be there."""
        narrowed = [f"({' | '.join(map(_lexeme, words))})" for words in scope]
        wanted = [f"({' | '.join(map(self._term, terms))})" for terms in asked if terms]
        return " & ".join([*narrowed, *wanted])

    def _term(self, term: Term) -> str:
        star = ":*" if term.prefix else ""
        spellings = (f"({' <-> '.join(_lexeme(word) for word in words)}{star})" for words in term.spellings)
        return f"({' | '.join([*spellings, *map(self._term, term.also)])})"


def _quoted(words: str) -> str:
    return f'"{words}"'


def _lexeme(word: str) -> str:
    return f"'{word}'"


_ENGINES: Mapping[str, _Sqlite | _Postgresql] = {"sqlite": _Sqlite(), "postgresql": _Postgresql()}


def _engine() -> _Sqlite | _Postgresql:
    return _ENGINES[connection.vendor]
