"""Contexts written: each table in one statement, and rows changed by their ids alone."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from ctxhub.core import sql
from memory.sql.context_rows import ContextRow

_WRITTEN = ("name", "folded", "description", "stack", "metadata", "updated_at", "changed_at")


def insert_context(project_id: int, row: ContextRow) -> int:
    """Write the row; its id. Its tags are written by `write_tags`."""
    columns = ("project_id", *_WRITTEN, "memory_count", "agent_id", "created_at")
    record = [project_id, *_values(row), 0, row.agent_id, sql.stored_time(row.created_at)]
    [(row_id,)] = sql.insert("memory_context", columns, [record], "RETURNING id")
    return int(row_id)


def write_context(row: ContextRow) -> None:
    """What the row is now, save how many memories it has."""
    changes = ", ".join(f"{column} = %s" for column in _WRITTEN)
    sql.execute(f"UPDATE memory_context SET {changes} WHERE id = %s", [*_values(row), row.id])  # noqa: S608


def write_tags(project_id: int, context_id: int, tag_ids: Sequence[int], *, is_new: bool = False) -> None:
    """Make its tags exactly these."""
    if not is_new:
        sql.execute("DELETE FROM memory_contexttag WHERE context_id = %s", [context_id])
    if tag_ids:
        records = [(project_id, context_id, tag) for tag in tag_ids]
        sql.insert("memory_contexttag", ("project_id", "context_id", "tag_id"), records)


def touch_contexts(by: Mapping[int, int], at: datetime) -> None:
    """Something in these was written at `at`: each has so many memories more."""
    for difference in sorted(set(by.values())):
        ids = sorted(context for context, more in by.items() if more == difference)
        among, values = sql.among("id", ids)
        sql.execute(
            f"UPDATE memory_context SET memory_count = memory_count + %s, updated_at = %s WHERE {among}",  # noqa: S608
            [difference, sql.stored_time(at), *values],
        )


def count_again(context_id: int) -> None:
    """Give a context the number of memories that it has."""
    sql.execute(
        """
        UPDATE memory_context SET memory_count = (SELECT count(*) FROM memory_memory WHERE context_id = %s)
        WHERE id = %s""",
        [context_id, context_id],
    )


def ids_in(context_id: int) -> list[int]:
    """Its memories."""
    return [row for (row,) in sql.rows("SELECT id FROM memory_memory WHERE context_id = %s", [context_id])]


def delete_context(context_id: int) -> None:
    """Remove it with its memories, and the tags of them all."""
    own = "SELECT id FROM memory_memory WHERE context_id = %s"
    for statement in (
        f"DELETE FROM memory_memorytag WHERE memory_id IN ({own})",  # noqa: S608
        "DELETE FROM memory_memory WHERE context_id = %s",
        "DELETE FROM memory_contexttag WHERE context_id = %s",
        "DELETE FROM memory_context WHERE id = %s",
    ):
        sql.execute(statement, [context_id])


def _values(row: ContextRow) -> list[object]:
    return [
        *(row.name, row.name.casefold(), row.description, row.stack, sql.stored_json(row.metadata)),
        *(sql.stored_time(row.updated_at), sql.stored_time(row.changed_at)),
    ]
