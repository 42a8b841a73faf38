"""Lists of workflows: pages, newest first, that walk an index in this order."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core import sql
from memory.sql.decision_lists import Condition
from memory.sql.workflow_rows import JOINS, WorkflowRow, as_rows, selected

Place = tuple[datetime, int]
"""Where a page ends: time and id of its last row."""


def list_workflows(conditions: Sequence[Condition], limit: int, after: Place | None) -> list[WorkflowRow]:
    """One page of those for which all conditions on `d` hold."""
    if after:
        moment, row_id = after
        behind: Condition = ("(d.updated_at, d.id) < (%s, %s)", [sql.stored_time(moment), row_id])
        conditions = [*conditions, behind]
    found, values = _found(conditions)
    statement = f"""
        WITH page AS MATERIALIZED ({found} ORDER BY d.updated_at DESC, d.id DESC LIMIT %s)
        SELECT {selected()} FROM page CROSS JOIN memory_workflow d {JOINS} WHERE d.id = page.id
        ORDER BY d.updated_at DESC, d.id DESC"""  # noqa: S608
    return as_rows(sql.rows(statement, [*values, limit]))


def count_workflows(conditions: Sequence[Condition], at_most: int) -> int:
    found, values = _found(conditions)
    [(count,)] = sql.rows(f"SELECT count(*) FROM ({found} LIMIT %s) c", [*values, at_most])  # noqa: S608
    return int(count)


def workflows_of(pad_ids: Sequence[int]) -> list[int]:
    """The ids of the workflows that these pads are in."""
    if not pad_ids:
        return []
    among, values = sql.among("id", pad_ids)
    found = sql.rows(f"SELECT DISTINCT workflow_id FROM memory_scratchpad WHERE {among}", values)  # noqa: S608
    return [row_id for (row_id,) in found]


def _found(conditions: Sequence[Condition]) -> tuple[str, list[Any]]:
    where = " AND ".join(text for text, _ in conditions)
    statement = f"SELECT d.id FROM memory_workflow d WHERE {where}"  # noqa: S608
    return statement, [value for _, values in conditions for value in values]
