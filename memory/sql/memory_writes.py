"""Memories written: many at once, each table in one statement."""

from collections.abc import Mapping, Sequence

from ctxhub.core import sql
from memory.sql.memory_rows import MemoryRow

_WRITTEN = (
    *("context_id", "title", "content", "digest", "tokens", "type", "difficulty", "stack", "folded_stack"),
    *("paths", "metadata", "updated_at"),
)


def insert_memories(project_id: int, rows: Sequence[MemoryRow]) -> list[int]:
    """Write the rows; their ids in the same order. Tags are written by `write_tags`."""
    columns = ("project_id", *_WRITTEN, "agent_id", "created_at")
    records = [[project_id, *_values(row), row.agent_id, sql.stored_time(row.created_at)] for row in rows]
    # Both engines number rows as they stand in VALUES, and answer in any order.
    return sorted(row_id for (row_id,) in sql.insert("memory_memory", columns, records, "RETURNING id"))


def write_memory(row: MemoryRow) -> None:
    changes = ", ".join(f"{column} = %s" for column in _WRITTEN)
    sql.execute(f"UPDATE memory_memory SET {changes} WHERE id = %s", [*_values(row), row.id])  # noqa: S608


def write_tags(
    project_id: int, rows: Sequence[MemoryRow], known: Mapping[str, int], *, are_new: bool
) -> None:
    """Make the tags of each row exactly those that it names; `known` are ids by case-folded name."""
    if not are_new:
        among, values = sql.among("memory_id", [row.id for row in rows])
        sql.execute(f"DELETE FROM memory_memorytag WHERE {among}", values)  # noqa: S608
    if records := [
        (project_id, row.id, known[tag.casefold()], sql.stored_time(row.updated_at))
        for row in rows
        for tag in row.tags
    ]:
        sql.insert("memory_memorytag", ("project_id", "memory_id", "tag_id", "updated_at"), records)


def touch_tags(memory_id: int) -> None:
    """Keep the copy of `updated_at` on tags that stay as they are."""
    sql.execute(
        """
        UPDATE memory_memorytag
        SET updated_at = (SELECT d.updated_at FROM memory_memory d WHERE d.id = memory_memorytag.memory_id)
        WHERE memory_id = %s""",
        [memory_id],
    )


def _values(row: MemoryRow) -> list[object]:
    return [
        *(row.context_id, row.title, row.content, row.digest, row.tokens, row.type, row.difficulty),
        *(row.stack, row.stack.casefold(), sql.stored_json(row.paths), sql.stored_json(row.metadata)),
        sql.stored_time(row.updated_at),
    ]
