"""Finds the objects with the highest total weight of some words, with the same SQL on both engines."""

from collections.abc import Mapping
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.search.abbreviations import written_forms
from ctxhub.core.search.engines import Narrowing, Scope
from ctxhub.core.search.matches import found_object_ids
from ctxhub.core.search.queries import Query, Term


def read_best_ids(scope: Scope, weights: Mapping[str, float], at_most: int) -> list[int]:
    """Ids of objects of one kind, best first, newest first among equals. Abbreviations of a word match, too.

    Sums one index query for each word: FTS5's bm25 reads the whole project to compute the rarity of the
    project's term, which took ten times as long.
    """
    if not weights:
        return []
    branches: list[str] = []
    values: list[Any] = []
    for word, weight in weights.items():
        found, arguments = found_object_ids(Narrowing(scope), Query((Term(written_forms(word)),)))
        # A word may occur in several passages of an object.
        branches.append(f"SELECT DISTINCT f.id, CAST(%s AS float) AS worth FROM ({found}) f")
        values += [weight, *arguments]
    rows = sql.rows(
        f"SELECT id FROM ({' UNION ALL '.join(branches)}) a"
        " GROUP BY id ORDER BY sum(worth) DESC, id DESC LIMIT %s",
        [*values, at_most],
    )
    return [row_id for (row_id,) in rows]
