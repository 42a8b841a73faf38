"""Lists of contexts: pages that walk an index, newest first, and counts that stop in time."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core import sql
from memory.sql.context_rows import JOINS, ContextRow, as_rows, selected

Place = tuple[datetime, int]


def list_contexts(
    project_id: int, limit: int, after: Place | None, ids: Sequence[int] | None = None
) -> list[ContextRow]:
    """One page behind a place (time and id of a row), of those with these ids or of all."""
    where, values = "d.project_id = %s", [project_id]
    if ids is not None:
        among, values_among = sql.among("d.id", ids)
        where, values = f"{where} AND {among}", [*values, *values_among]
    if after:
        where, values = (
            f"{where} AND (d.updated_at, d.id) < (%s, %s)",
            [*values, sql.stored_time(after[0]), after[1]],
        )
    statement = f"""
        WITH page AS MATERIALIZED (
            SELECT d.id FROM memory_context d WHERE {where} ORDER BY d.updated_at DESC, d.id DESC LIMIT %s)
        SELECT {selected()} FROM page CROSS JOIN memory_context d {JOINS} WHERE d.id = page.id
        ORDER BY d.updated_at DESC, d.id DESC"""  # noqa: S608
    return as_rows(sql.rows(statement, [*values, limit]))


def count_contexts(project_id: int, at_most: int) -> int:
    [(count,)] = sql.rows(
        "SELECT count(*) FROM (SELECT 1 FROM memory_context WHERE project_id = %s LIMIT %s) c",
        [project_id, at_most],
    )
    return int(count)
