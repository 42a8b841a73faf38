"""Which things have most of some words, by what these are worth: the same on both engines."""

from collections.abc import Mapping
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.search.abbreviations import written_forms
from ctxhub.core.search.engines import Narrowing, Scope, found_object_ids
from ctxhub.core.search.queries import Query, Term


def read_best_ids(scope: Scope, worths: Mapping[str, float], at_most: int) -> list[int]:
    """Things of one kind, best first, newest first among equals. A word counts as its abbreviations, too.

    A sum over one reading of the index for each word: FTS5's bm25 reads the whole project to say how rare its
    name is, which took ten times as long.
    """
    if not worths:
        return []
    branches: list[str] = []
    values: list[Any] = []
    for word, worth in worths.items():
        found, asked = found_object_ids(Narrowing(scope), Query((Term(written_forms(word)),)))
        # Of a longer thing a word may stand in several passages.
        branches.append(f"SELECT DISTINCT f.id, CAST(%s AS float) AS worth FROM ({found}) f")  # noqa: S608
        values += [worth, *asked]
    rows = sql.rows(
        f"SELECT id FROM ({' UNION ALL '.join(branches)}) a"  # noqa: S608
        " GROUP BY id ORDER BY sum(worth) DESC, id DESC LIMIT %s",
        [*values, at_most],
    )
    return [row_id for (row_id,) in rows]
