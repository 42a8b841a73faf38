"""Appends to a scratchpad in one statement."""

from ctxhub.core.kit import sql
from memory.scratchpads.rows.scratchpads import PadRow


def append_content(row: PadRow, added: str) -> None:
    """Append to a pad and update its derived columns, without reading or sending the existing content."""
    sql.execute(
        """
        UPDATE memory_scratchpad
        SET content = content || %s, length = %s, size = %s, revision = %s, updated_at = %s
        WHERE id = %s""",
        [added, row.length, row.size, row.revision, sql.stored_time(row.updated_at), row.id],
    )
