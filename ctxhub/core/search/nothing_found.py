"""Explains an empty search result: the filter that excludes all hits, or objects with similar words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.listing import COUNTED_TO, total_of
from ctxhub.core.search.candidates import find_candidates
from ctxhub.core.search.documents import PARTS
from ctxhub.core.search.engines import Narrowing, clauses_of
from ctxhub.core.search.queries import Query, single_words
from ctxhub.core.search.questions import Search, SearchFilters, count_entries, narrow, prepare
from ctxhub.core.search.spelling import find_words_within
from ctxhub.core.vocabulary.queries import unknown_names

NEAR = 5
# A similar word may differ in one letter of so many.
LETTERS_PER_EDIT = 3


def explain_nothing(project_id: int, query: str, match: str, filters: SearchFilters) -> dict[str, Any]:
    """Return `hint`, and `near`: refs of objects with words similar to those of the query, if there are any.

    Runs a few queries for each filter, as empty results are rare.
    """
    if unknown := unknown_names(project_id, filters):
        return unknown
    if not count_entries(project_id):
        return {"hint": "Nothing is stored in this project yet."}
    search = prepare(project_id, query, match="auto" if match == "all" else match)
    if search is None or not search.weights:
        return {}
    everywhere = Narrowing([[f"P{project_id}"]])
    everything = _count(search, everywhere)
    if hint := _filter_that_excludes(project_id, search, filters, everything):
        return {"hint": hint}
    if everything:
        return {"hint": f"Nothing has all of these words; with match any there {_are(everything)}."}
    if search.query.excluded and (left := _count(_without_exclusions(search), everywhere)):
        return {"hint": f"What has these words has an excluded one, too: without -... there {_are(left)}."}
    if near := _near_refs(project_id, search.query):
        return {"near": near, "hint": "Nothing has these words; what is near has others like them."}
    return {"hint": "Nothing has these words, or any like them; other words may find it."}


def _filter_that_excludes(project_id: int, search: Search, filters: SearchFilters, everything: int) -> str:
    """Return a hint about the filter, or the filters together, without which something is found; else ""."""
    used = {name: value for name, value in filters.items() if value}
    if not everything or _count_with(project_id, search, used):
        return ""
    for name in used:
        if left := _count_with(project_id, search, {other: used[other] for other in used if other != name}):
            return f"{name} excludes all: without it there {_are(left)}."
    return f"Without {' and '.join(used)} there {_are(everything)}."


def _count_with(project_id: int, search: Search, filters: Any) -> int:
    narrowing = narrow(project_id, filters)
    return _count(search, narrowing) if narrowing else 0


def _count(search: Search, narrowing: Narrowing) -> int:
    return find_candidates(narrowing, search.query, search.weights, 1, COUNTED_TO + 1)[1]


def _without_exclusions(search: Search) -> Search:
    return replace(search, query=replace(search.query, excluded=()))


def _are(count: int) -> str:
    total = total_of(count)
    more = " or more" if "more" in total else ""
    return f"is {total['total']}" if count == 1 else f"are {total['total']:,}{more}"


def _near_refs(project_id: int, query: Query) -> list[str]:
    """Return refs of objects with words similar to those of the query, and no excluded one, by distance."""
    max_edits = {term.surface: max(len(term.surface) // LETTERS_PER_EDIT, 1) for term in single_words(query)}
    near = find_words_within(project_id, max_edits, NEAR)
    words = list(dict.fromkeys(word for similar in near.values() for word in similar))
    return _refs_with(project_id, words, query)[:NEAR]


def _refs_with(project_id: int, words: Sequence[str], query: Query) -> list[str]:
    if not words:
        return []
    among, values = sql.among("w.word", words)
    excluded = Query((), query.excluded)
    clauses, clause_values = clauses_of(Narrowing([[f"P{project_id}"]]), excluded, f"e.id * {PARTS}")
    found = dict(
        sql.rows(
            f"""
            SELECT w.word, e.ref FROM core_searchword w JOIN core_searchentry e ON e.id = w.entry_id
            WHERE w.project_id = %s AND {among}{clauses}""",
            [project_id, *values, *clause_values],
        )
    )
    return list(dict.fromkeys(found[word] for word in words if word in found))
