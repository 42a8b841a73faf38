"""Reads a sample of the index: the words of some objects of a kind, for the rarity of words."""

from collections.abc import Sequence
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.search.documents import PARTS


def read_spread(project_id: int, kind: str, at_most: int) -> list[str]:
    """The words of the first passages of at most `at_most` objects: all, or one from each range of ids."""
    first = _words(
        "SELECT id FROM core_searchentry WHERE project_id = %s AND kind = %s ORDER BY object_id LIMIT %s",
        [project_id, kind, at_most + 1],
    )
    return first if len(first) <= at_most else _read_ranges(project_id, kind, at_most)


def _read_ranges(project_id: int, kind: str, count: int) -> list[str]:
    scope = [project_id, kind]
    [(first, last)] = sql.rows(
        """
        SELECT (SELECT object_id FROM core_searchentry WHERE project_id = %s AND kind = %s
                ORDER BY object_id LIMIT 1),
            (SELECT object_id FROM core_searchentry WHERE project_id = %s AND kind = %s
                ORDER BY object_id DESC LIMIT 1)""",
        scope * 2,
    )
    asked, arguments = sql.listed([str(first + (last - first) * n // (count - 1)) for n in range(count)])
    return _words(
        f"""
        SELECT DISTINCT (
            SELECT e.id FROM core_searchentry e
            WHERE e.project_id = %s AND e.kind = %s AND e.object_id >= CAST(asked.value AS bigint)
            ORDER BY e.object_id LIMIT 1) AS id FROM {asked}""",
        [*scope, *arguments],
    )


def _words(entries: str, values: Sequence[Any]) -> list[str]:
    rows = sql.rows(
        f"""
        SELECT t.words FROM ({entries}) e CROSS JOIN core_searchtext t WHERE t.id = e.id * {PARTS}""",
        values,
    )
    return [words for (words,) in rows]
