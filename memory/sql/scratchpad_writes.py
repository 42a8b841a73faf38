"""Scratchpads written."""

from ctxhub.core import sql
from memory.sql.scratchpad_rows import PadRow


def insert_scratchpad(project_id: int, row: PadRow) -> int:
    """Write the row; its id. Its state is written by `insert_state`."""
    columns = (
        *("project_id", "workflow_id", "name", "content", "length", "size", "revision", "agent_id"),
        *("created_at", "updated_at"),
    )
    record = [
        *(project_id, row.workflow_id, row.name, row.content, row.length, row.size, row.revision),
        *(row.agent_id, sql.stored_time(row.created_at), sql.stored_time(row.updated_at)),
    ]
    [(row_id,)] = sql.insert("memory_scratchpad", columns, [record], "RETURNING id")
    return int(row_id)


def write_content(row: PadRow) -> None:
    """Make the text what the row says, with what follows from it."""
    sql.execute(
        """
        UPDATE memory_scratchpad SET content = %s, length = %s, size = %s, revision = %s, updated_at = %s
        WHERE id = %s""",
        [row.content, row.length, row.size, row.revision, sql.stored_time(row.updated_at), row.id],
    )


def append_content(row: PadRow, added: str) -> None:
    """The same where the text only grows at its end: nobody reads or sends what was there."""
    sql.execute(
        """
        UPDATE memory_scratchpad
        SET content = content || %s, length = %s, size = %s, revision = %s, updated_at = %s
        WHERE id = %s""",
        [added, row.length, row.size, row.revision, sql.stored_time(row.updated_at), row.id],
    )
