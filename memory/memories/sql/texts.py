"""Reads the beginnings of memories for comparison."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen

KIND = "memory"


@frozen
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
