"""Reads texts of memories for comparison: the beginnings of some, and the words of a sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.search.documents import PARTS

KIND = "memory"


@dataclass(frozen=True, slots=True)
class MemoryText:
    """Title, beginning of the content, and context of a memory."""

    id: int
    title: str
    content: str
    context_id: int

    @property
    def full_text(self) -> str:
        return f"{self.title}\n{self.content}"


def read_texts(project_id: int, ids: Sequence[int], characters: int) -> list[MemoryText]:
    """The memories of these ids, with at most `characters` of their contents."""
    if not ids:
        return []
    return _texts(*sql.by_ids("d", project_id, ids), characters)


def read_texts_since(project_id: int, since: datetime, at_most: int, characters: int) -> list[MemoryText]:
    """The memories updated since `since`, the newest first."""
    return _texts(
        "d.project_id = %s AND d.updated_at >= %s ORDER BY d.updated_at DESC, d.id DESC LIMIT %s",
        [project_id, sql.stored_time(since), at_most],
        characters,
    )


def _texts(which: str, values: Sequence[Any], characters: int) -> list[MemoryText]:
    rows = sql.rows(
        f"SELECT d.id, d.title, substr(d.content, 1, %s), d.context_id FROM memory_memory d WHERE {which}",
        [characters, *values],
    )
    return [MemoryText(*row) for row in rows]


def read_spread(project_id: int, at_most: int) -> list[str]:
    """The words of the first passages of at most `at_most` memories: all, or one from each range of ids."""
    first = _words(
        "SELECT id FROM core_searchentry WHERE project_id = %s AND kind = %s ORDER BY object_id LIMIT %s",
        [project_id, KIND, at_most + 1],
    )
    return first if len(first) <= at_most else _read_ranges(project_id, at_most)


def _read_ranges(project_id: int, count: int) -> list[str]:
    scope = [project_id, KIND]
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
