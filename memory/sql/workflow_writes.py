"""Workflows written, and removed with all that is in them."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core import sql
from memory.sql.scratchpad_writes import delete_scratchpads
from memory.sql.workflow_rows import WorkflowRow


def insert_workflow(project_id: int, row: WorkflowRow) -> int:
    """Write the row; its id."""
    columns = (
        *("project_id", "name", "metadata", "is_active", "is_kept", "agent_id", "created_at", "updated_at"),
    )
    record = [
        *(project_id, row.name, sql.stored_json(row.metadata), row.is_active, row.is_kept, row.agent_id),
        *(sql.stored_time(row.created_at), sql.stored_time(row.updated_at)),
    ]
    [(row_id,)] = sql.insert("memory_workflow", columns, [record], "RETURNING id")
    return int(row_id)


def write_workflow(row: WorkflowRow) -> None:
    sql.execute(
        """
        UPDATE memory_workflow SET name = %s, metadata = %s, is_active = %s, is_kept = %s, updated_at = %s
        WHERE id = %s""",
        [
            *(row.name, sql.stored_json(row.metadata), row.is_active, row.is_kept),
            *(sql.stored_time(row.updated_at), row.id),
        ],
    )


def touch_workflow(row_id: int, at: datetime) -> None:
    sql.execute("UPDATE memory_workflow SET updated_at = %s WHERE id = %s", [sql.stored_time(at), row_id])


def pads_of_workflows(ids: Sequence[int]) -> list[int]:
    among, values = sql.among("workflow_id", ids)
    found = sql.rows(f"SELECT id FROM memory_scratchpad WHERE {among} ORDER BY id", values)  # noqa: S608
    return [pad for (pad,) in found]


def delete_workflows(ids: Sequence[int], pads: Sequence[int]) -> None:
    """Remove them with all their pads."""
    delete_scratchpads(pads)
    among, values = sql.among("id", ids)
    sql.execute(f"DELETE FROM memory_workflow WHERE {among}", values)  # noqa: S608


def idle_workflows(project_id: int, before: datetime, at_most: int) -> list[tuple[int, int]]:
    """Those that nobody has written to since, the longest ago first: ids, and the bytes in their pads."""
    found = sql.rows(
        """
        SELECT d.id, (SELECT coalesce(sum(p.size), 0) FROM memory_scratchpad p WHERE p.workflow_id = d.id)
        FROM memory_workflow d WHERE d.project_id = %s AND d.is_kept = %s AND d.updated_at < %s
        ORDER BY d.updated_at LIMIT %s""",
        [project_id, False, sql.stored_time(before), at_most],
    )
    return [(row_id, int(size)) for row_id, size in found]
