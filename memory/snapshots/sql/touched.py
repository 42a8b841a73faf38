"""Finds snapshots by the time when they were last read, or made."""

from datetime import datetime

from ctxhub.core.kit import sql
from ctxhub.core.kit.pages import Condition


def touched_between(
    after: datetime | None, until: datetime | None, column: str = "d.touched_at"
) -> Condition:
    """The condition of a tier's range."""
    bounds = [(f"{column} > %s", after), (f"{column} <= %s", until)]
    given = [(text, sql.stored_time(moment)) for text, moment in bounds if moment]
    return " AND ".join(text for text, _ in given), [value for _, value in given]


def read_touched_ids(
    project_id: int, after: datetime | None, until: datetime | None, at_most: int
) -> list[int]:
    """The ids of some snapshots of a tier."""
    text, values = touched_between(after, until)
    rows = sql.rows(
        f"SELECT d.id FROM memory_snapshot d WHERE d.project_id = %s AND {text}"
        # In this order PostgreSQL reads the index, not the table.
        " ORDER BY d.touched_at, d.id LIMIT %s",
        [project_id, *values, at_most],
    )
    return [row_id for (row_id,) in rows]
