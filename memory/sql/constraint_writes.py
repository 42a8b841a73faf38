"""Constraints written: each table in one statement."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core import sql
from ctxhub.core.models.priority import Priority
from memory.sql.constraint_lists import SCOPE_LINKS, TAG_LINKS
from memory.sql.constraint_rows import ConstraintRow
from memory.sql.decision_lists import Links


def insert_constraint(project_id: int, row: ConstraintRow) -> int:
    """Write the row; its id. Tags and scopes are written by `insert_links`."""
    columns = (
        *("project_id", "category_id", "text", "digest", "rank", "priority", "layer_id", "agent_id"),
        *("paths", "reason", "status", "created_at", "updated_at"),
    )
    record = [
        *(project_id, row.category_id, row.text, row.digest, row.rank, row.priority, row.layer_id),
        *(row.agent_id, sql.stored_json(row.paths), row.reason, row.status),
        *(sql.stored_time(row.created_at), sql.stored_time(row.updated_at)),
    ]
    [(row_id,)] = sql.insert("memory_constraint", columns, [record], "RETURNING id")
    return int(row_id)


def insert_links(links: Links, project_id: int, row: ConstraintRow, word_ids: Sequence[int]) -> None:
    if word_ids:
        moment = sql.stored_time(row.created_at)
        sql.insert(
            links.table,
            ("project_id", "constraint_id", links.column, "rank", "created_at"),
            [(project_id, row.id, word, row.rank, moment) for word in word_ids],
        )


def write_status(row_id: int, status: int, at: datetime) -> None:
    sql.execute(
        "UPDATE memory_constraint SET status = %s, updated_at = %s WHERE id = %s",
        [status, sql.stored_time(at), row_id],
    )


def rank_again(category_id: int, folded: str) -> None:
    """Give all constraints of a category, and their links, the rank that its name has now."""
    sql.execute(
        "UPDATE memory_constraint SET rank = CAST(%s - priority AS TEXT) || %s WHERE category_id = %s",
        [max(Priority), folded, category_id],
    )
    _touch_links("IN (SELECT id FROM memory_constraint WHERE category_id = %s)", category_id)


def touch_links(constraint_id: int) -> None:
    """Keep the copies of what lists sort by on the links of a constraint."""
    _touch_links("= %s", constraint_id)


def _touch_links(condition: str, value: int) -> None:
    for links in (TAG_LINKS, SCOPE_LINKS):
        own = f"FROM memory_constraint d WHERE d.id = {links.table}.constraint_id"
        sql.execute(
            f"""
            UPDATE {links.table} SET rank = (SELECT d.rank {own}), created_at = (SELECT d.created_at {own})
            WHERE constraint_id {condition}""",  # noqa: S608
            [value],
        )
