"""Counts the matches of terms and queries, and finds the ids of their rows."""

from collections.abc import Sequence
from typing import Any

from ctxhub.core import registry
from ctxhub.core.kit import sql
from ctxhub.core.search.documents import PARTS
from ctxhub.core.search.engines import Narrowing, Scope, clauses_of, engine
from ctxhub.core.search.queries import Query, Term

# Frequencies are counted up to this number: a term that is more common has next to no weight.
COUNTED_TO = 20_000
MATCHES_READ = 100
# Projects with fewer objects have short lists of rows.
LARGE = 50_000
# By the project's list a row takes 7 us, by itself 1.5: with less than this share too many are read in vain.
SHARE = 0.25


def frequencies(scope: Scope, terms: Sequence[Term], *, by_row: bool = False) -> list[int]:
    """Return how many passages have each term, counted up to COUNTED_TO. `by_row`: as `holds_most` says."""
    if not terms:
        return []
    counted, values = frequencies_of(scope, terms, by_row=by_row)
    [counts] = sql.rows(f"SELECT {', '.join(counted)}", values)
    return list(counts)


def frequencies_of(
    scope: Scope, terms: Sequence[Term], *, by_row: bool = False
) -> tuple[list[str], list[Any]]:
    """Return an SQL expression for the count of each term, as `frequencies` counts, and their values."""
    dialect = engine()
    of_projects, scope = dialect.by_row(scope) if by_row else ("", scope)
    count = f"(SELECT count(*) FROM ({dialect.found}{of_projects} LIMIT {COUNTED_TO}) c)"
    return [count] * len(terms), [dialect.expression(scope, [term]) for term in terms]


def passages_of_hub() -> str:
    """Return an SQL expression for about how many passages all projects have; null on SQLite."""
    return (
        "NULL"
        if sql.is_sqlite()
        else "(SELECT reltuples FROM pg_class WHERE oid = 'core_searchtext'::regclass)"
    )


def holds_most(objects: int, passages: float | None = None) -> bool:
    """Whether a project with so many objects holds so much of the hub that its rows are told by themselves.

    PostgreSQL reads all rows of a word then, also those of other projects, but no list of the project's rows.
    `passages`: those of the hub, as `passages_of_hub` counts them; None: they are counted.
    """
    if sql.is_sqlite() or objects < LARGE:
        return False
    if passages is None:
        [(passages,)] = sql.rows(f"SELECT {passages_of_hub()}")
    return objects >= SHARE * float(passages or 0)


def any_entries(project_id: int, terms: Sequence[Term]) -> list[int | None]:
    """Return for each term the id of an entry that has it, preferably a newer one, or None."""
    dialect = engine()
    matches, values = sql.listed([dialect.expression([[f"P{project_id}"]], [term]) for term in terms])
    found = dialect.found.replace("%s", "asked.value")
    entry = f"SELECT max(id) / {PARTS} FROM ({found} LIMIT {MATCHES_READ}) c"
    rows = sql.rows(f"SELECT ({entry}) FROM {matches} ORDER BY asked.key", values)
    return [entry_id for (entry_id,) in rows]


def count_by_kind(narrowing: Narrowing, query: Query) -> dict[str, int]:
    """Return how many objects of each kind match, as they are or as they were before."""
    if not query.wanted:
        return {}
    dialect = engine()
    clauses, values = clauses_of(narrowing, query, dialect.id)
    earlier = {n.kind: n.earlier_states_of for n in registry.indexed_nouns() if n.earlier_states_of}
    standing = " ".join(f"WHEN '{kind}' THEN '{of}'" for kind, of in earlier.items())
    rows = sql.rows(
        f"""
        SELECT {f"CASE e.kind {standing} ELSE e.kind END" if earlier else "e.kind"}, count(DISTINCT e.ref)
        FROM (SELECT DISTINCT a.id / {PARTS} AS id FROM ({dialect.found}{clauses}) a) b
        CROSS JOIN core_searchentry e WHERE e.id = b.id GROUP BY 1""",
        [dialect.expression(narrowing.scope, query.wanted), *values],
    )
    return {kind: int(count) for kind, count in rows}


def found_object_ids(narrowing: Narrowing, query: Query) -> tuple[str, list[Any]]:
    """Return SQL that selects the `id`s of the matching rows, for use as a subquery; and its values."""
    dialect = engine()
    clauses, values = clauses_of(narrowing, query, dialect.id)
    statement = _select_object_ids(f"{dialect.found}{clauses}")
    return statement, [dialect.expression(narrowing.scope, query.wanted), *values]


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
    dialect = engine()
    first = f"{dialect.found} ORDER BY {dialect.by_age} LIMIT %s"
    return _select_object_ids(first), [dialect.expression(scope, *([term] for term in terms)), limit]


def _select_object_ids(found: str) -> str:
    return f"""
        SELECT e.object_id AS id FROM ({found}) a CROSS JOIN core_searchentry e
        WHERE e.id = a.id / {PARTS}"""
