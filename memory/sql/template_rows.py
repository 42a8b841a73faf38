"""Templates read: a project's own, and the names of those built in where it has none of that name."""

from collections.abc import Sequence
from typing import Any

from ctxhub.core import sql


def list_templates(
    project_id: int, built_in: Sequence[str], limit: int, after: str | None
) -> list[tuple[Any, ...]]:
    """One page by folded name; of a built-in one the folded name alone. Only the database compares."""
    beyond, place = (" AND t.folded > %s", [after]) if after is not None else ("", [])
    names = ", ".join(["(%s)"] * len(built_in))
    found = sql.rows(
        f"""
        SELECT folded, name, defaults, require, patterns FROM (
            SELECT * FROM (
                SELECT t.folded, t.name, t.defaults, t.require, t.patterns FROM memory_decisiontemplate t
                WHERE t.project_id = %s{beyond} ORDER BY t.folded LIMIT %s) own
            UNION ALL
            SELECT t.folded, NULL, NULL, NULL, NULL FROM (SELECT column1 AS folded FROM (VALUES {names}) v) t
            WHERE NOT EXISTS (
                SELECT 1 FROM memory_decisiontemplate o WHERE o.project_id = %s AND o.folded = t.folded)
            {beyond}) page
        ORDER BY folded LIMIT %s""",  # noqa: S608
        [project_id, *place, limit, *built_in, project_id, *place, limit],
    )
    return [_read(row) for row in found]


def find_templates(project_id: int, folded: Sequence[str]) -> list[tuple[Any, ...]]:
    """The project's own templates of these folded names."""
    among, values = sql.among("folded", folded)
    found = sql.rows(
        f"""SELECT folded, name, defaults, require, patterns FROM memory_decisiontemplate
        WHERE project_id = %s AND {among}""",  # noqa: S608
        [project_id, *values],
    )
    return [_read(row) for row in found]


def _read(row: Sequence[Any]) -> tuple[Any, ...]:
    folded, name, *rest = row
    return (folded, name, *(sql.read_json(value) for value in rest))
