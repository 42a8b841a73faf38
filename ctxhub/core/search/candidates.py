"""Finds the passages that match best: those with the highest sums of the weights of their terms."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ctxhub.core.kit import sql
from ctxhub.core.kit.sql import Selected
from ctxhub.core.paths.counts import StaleShare, share_of_stale
from ctxhub.core.paths.rows import stale_patterns
from ctxhub.core.search.documents import EARLIER, OVER, PARTS
from ctxhub.core.search.engines import Narrowing, Scope, clauses_of, engine
from ctxhub.core.search.queries import Query, Term

# The rarest terms alone select the candidates if they are in ENOUGH times as many passages as the limit, and
# the other terms together weigh at most WORTH_OF_OTHERS times the least of them. Of the first ten hits of 750
# questions to 10,000 and 50,000 entries 99.9 % are the same as with all terms.
ENOUGH = 8
WORTH_OF_OTHERS = 1.5
# With this share of the least weight of the rarest terms, rounded as the statement does, others weigh less.
SCORES_LESS = 0.99
# Sizes are read for this many times the limit of passages: those with the highest sums of weights.
SIZES_READ = 3
# Length normalisation: 1 / (73 + size) is, but for a constant factor, 1 / (0.55 + 0.45 * size / 60).
LENGTH_COST = 73
WEIGHT_UNITS = 1_000
# What `candidate_of` reads, of an entry `e` and its passage `t`.
COLUMNS = f"""e.id, e.kind, e.object_id, e.ref, e.updated_at, t.start, t.words, t.size, t.scope,
            t.id - e.id * {PARTS}"""
# Joins to an entry `e` how stale its object is, as `find_stale` in core/paths reads it.
STALE = f"""LEFT JOIN core_pathpattern s
            ON s.kind = e.kind AND s.object_id = e.object_id AND s.project_id = t.project_id
            AND {stale_patterns("s")}"""


class Candidate(NamedTuple):
    """A passage that may match. `part`: its number within the entry; `words`: its indexed words; `scope`: the
    words that filters match; `is_over`: not in force any more; `is_earlier`: an earlier state of the object.
    `stale`: how many changes of its files were not looked at, and since when; 0 where this was not read.
    `stale_share`: of its project, of an object that is stale.
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
    stale: int = 0
    stale_since: datetime | None = None
    stale_share: StaleShare = StaleShare()


class _Asked(NamedTuple):
    """What is asked for. `of_projects` and `scope`: in which rows, as a condition and as scope words."""

    narrowing: Narrowing
    query: Query
    weights: Mapping[Term, float]
    limit: int
    of_projects: str
    scope: Scope


def find_candidates(
    narrowing: Narrowing,
    query: Query,
    weights: Mapping[Term, float],
    limit: int,
    count_to: int,
    counts: Mapping[Term, int] | None = None,
    *,
    by_row: bool = False,
) -> tuple[list[Candidate], int]:
    """Return the best passages, at most `limit`, and the number of matching objects, up to `count_to`.

    `counts`: how many passages of the project have each term; they save reading the rows of common terms.
    `by_row`: as `holds_most` says.
    """
    counts = counts or {}
    is_whole = len(narrowing.scope) == 1 and not narrowing.since and not query.excluded
    leading = leading_terms(query, weights, counts, limit, is_whole=is_whole)
    dependent = _dependent_terms(query, leading, counts)
    within = engine().by_row(narrowing.scope) if by_row else ("", narrowing.scope)
    asked = _Asked(narrowing, query, weights, limit, *within)
    count = _count(asked, counts, count_to)
    of_sums = _count_of_sums(asked, count, count_to, is_complete=not dependent)
    candidates, counted = _find_best(asked, of_sums, dependent, leading)
    if len(candidates) < limit and dependent:
        candidates, counted = _find_best(asked, count)
    entries = len({candidate.ref for candidate in candidates})
    return candidates, min(entries, count_to) if counted is None else max(counted, min(entries, count_to))


def leading_terms(
    query: Query,
    weights: Mapping[Term, float],
    counts: Mapping[Term, int],
    limit: int,
    *,
    is_whole: bool = False,
) -> Sequence[Term]:
    """Return the rarest terms if they suffice to find the best passages, else all terms.

    A passage that has all other terms scores hardly more than one that has one of the rarest, and reading
    the rows of a common term takes most of a search's time. If it scores less, and one of the rarest terms
    is in as many passages as are read, none is missed. `is_whole`: nothing narrows the search, so that all
    passages that `counts` tells of match.
    """
    if query.needs_all or not counts:
        return query.wanted
    rarest_first = sorted(query.wanted, key=lambda term: weights[term], reverse=True)
    others, passages, most = sum(weights[term] for term in rarest_first), 0, 0
    for number, term in enumerate(rarest_first, start=1):
        others -= weights[term]
        passages += counts[term]
        most = max(most, counts[term])
        if is_whole and most >= SIZES_READ * limit and others <= SCORES_LESS * weights[term]:
            return rarest_first[:number]
        if passages >= ENOUGH * limit and others <= WORTH_OF_OTHERS * weights[term]:
            return rarest_first[:number]
    return query.wanted


def _dependent_terms(query: Query, leading: Sequence[Term], counts: Mapping[Term, int]) -> set[Term]:
    """Return the terms that are matched only together with a leading one: alone they match more rows."""
    passages = sum(counts.get(term, 0) for term in leading)
    return {term for term in query.wanted if term not in leading and counts.get(term, 0) > passages}


def _find_best(
    asked: _Asked,
    count: Selected,
    dependent: Collection[Term] = (),
    leading: Sequence[Term] = (),
) -> tuple[list[Candidate], int | None]:
    """Return the passages with the highest sums of term weights, normalised by length; and `count`, if so
    many were found as may be.

    A term counts once, by its weight. Dependent terms count only together with a leading term. Weights are
    integers here: their sum does not depend on the order of addition, so both engines sort alike.
    """
    dialect = engine()
    narrowing, query, weights, limit, of_projects, scope = asked
    clauses, clause_values = clauses_of(narrowing, query, "u.id")
    branches = " UNION ALL ".join([f"{dialect.branch}{of_projects}"] * len(query.wanted))
    values: list[Any] = []
    for term in query.wanted:
        groups = [leading, [term]] if term in dependent else [[term]]
        values += [round(weights[term] * WEIGHT_UNITS), dialect.expression(scope, *groups)]
    counted, count_values = count
    share, share_values = share_of_stale(narrowing.project_id)
    # The subquery ranks by id, worth and size; only the rows of the best are read in full.
    rows = sql.rows(
        f"""
        WITH sums AS MATERIALIZED ({dialect.sums(f"{branches}) u WHERE TRUE{clauses}")}),
        best AS MATERIALIZED (
            SELECT m.id FROM ({dialect.with_sizes("sums")}) m
            ORDER BY CAST(m.worth AS double precision) / ({LENGTH_COST} + m.size) DESC, m.id DESC LIMIT %s)
        SELECT (SELECT CASE WHEN count(*) >= %s THEN ({counted}) END FROM best), {COLUMNS}, s.stale,
            s.stale_since, {", ".join(f"CASE WHEN s.stale > 0 THEN {number} END" for number in share)}
        FROM best CROSS JOIN core_searchtext t CROSS JOIN {dialect.entry_of(f"best.id / {PARTS}")} {STALE}
        WHERE t.id = best.id AND e.id = best.id / {PARTS}""",
        [*values, *clause_values, SIZES_READ * limit, limit, limit, *count_values, *share_values],
    )
    return [candidate_of(*columns) for _, *columns in rows], rows[0][0] if rows else None


def _count(asked: _Asked, counts: Mapping[Term, int], count_to: int) -> Selected:
    """Return SQL that counts the objects that match, up to `count_to`, and its values.

    Mostly the first passages with the most common term alone reach it; these need no DISTINCT. Else an
    object and its earlier states are counted once.
    """
    dialect = engine()
    query = asked.query
    found, values = _found(asked, query)
    of_all = f"""
        SELECT count(*) FROM (
            SELECT DISTINCT e.ref FROM (SELECT DISTINCT a.id / {PARTS} AS id FROM ({found}) a) b
            CROSS JOIN {dialect.entry_of("b.id")} WHERE e.id = b.id LIMIT %s) c"""
    most_common = max(query.wanted, key=lambda term: counts.get(term, 0))
    if counts.get(most_common, 0) < count_to or query.needs_all:
        return of_all, [*values, count_to]
    found, values_of_common = _found(asked, query.with_wanted([most_common]))
    first = f"SELECT 1 FROM ({found}) a WHERE a.id = a.id / {PARTS} * {PARTS} LIMIT %s"
    statement = f"""
        SELECT CASE WHEN f.objects >= %s THEN f.objects ELSE ({of_all}) END
        FROM (SELECT count(*) AS objects FROM ({first}) c) f"""
    return statement, [count_to, *values, count_to, *values_of_common, count_to]


def _count_of_sums(asked: _Asked, count: Selected, count_to: int, *, is_complete: bool) -> Selected:
    """Return SQL that counts what `count` counts, in the `sums` of the statement around it if these tell it.

    They tell that enough objects match, and if all are first passages and none of an earlier state, how many.
    `is_complete`: all passages that match are among the sums.
    """
    statement, values = count
    earlier = engine().expression([*asked.scope, [EARLIER]], asked.query.wanted)
    known = "WHEN n.earlier = 0 AND n.passages = n.objects THEN n.objects" if is_complete else ""
    return (
        f"""
        SELECT CASE WHEN n.objects - n.earlier >= %s THEN %s {known} ELSE ({statement}) END
        FROM (
            SELECT count(*) AS passages, count(CASE WHEN id = id / {PARTS} * {PARTS} THEN 1 END) AS objects,
                (SELECT count(*) FROM ({engine().found}{asked.of_projects}) e) AS earlier
            FROM sums) n""",
        [count_to, count_to, *values, earlier],
    )


def _found(asked: _Asked, query: Query) -> Selected:
    """Return SQL for the ids of the passages that match, and its values."""
    dialect = engine()
    clauses, values = clauses_of(asked.narrowing, query, dialect.id)
    found = f"{dialect.found}{asked.of_projects}{clauses}"
    return found, [dialect.expression(asked.scope, query.wanted), *values]


def candidate_of(entry_id: int, kind: str, object_id: int, ref: str, at: Any, *passage: Any) -> Candidate:
    start, words, size, scope, part, *stale = passage
    count, since, *share = stale or (0, None)
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
        count or 0,
        sql.read_time(since) if since else None,
        StaleShare(*share) if count and share else StaleShare(),
    )


def read_beginnings(project_id: int, kind: str, object_ids: Sequence[int]) -> list[Candidate]:
    """Return the first passage of each of these rows."""
    among, values = sql.among("e.object_id", object_ids)
    rows = sql.rows(
        f"""
        SELECT {COLUMNS}
        FROM core_searchentry e CROSS JOIN core_searchtext t
        WHERE e.project_id = %s AND e.kind = %s AND {among} AND t.id = e.id * {PARTS}""",
        [project_id, kind, *values],
    )
    return [candidate_of(*columns) for columns in rows]


def read_beginnings_of(
    project_id: int, turns: str, values: Sequence[Any]
) -> list[tuple[tuple[str, int], tuple[str, int, int], Candidate | None]]:
    """Return the rows of a SELECT of `kind`, and what `Noun.turns` selects: kind and id, the rest, and the
    first passage of the `other`, None if it is not in the index.
    """
    rows = sql.rows(
        f"""
        SELECT n.kind, n.id, n.ending, n.place, n.other, {COLUMNS}, s.stale, s.stale_since
        FROM ({turns}) n
        LEFT JOIN core_searchentry e
            ON e.project_id = %s AND e.kind = n.kind AND e.object_id = n.other
        LEFT JOIN core_searchtext t ON t.id = e.id * {PARTS} {STALE}""",
        [*values, project_id],
    )
    return [
        ((kind, row), (ending, place, other), candidate_of(*columns) if columns[5] is not None else None)
        for kind, row, ending, place, other, *columns in rows
    ]
