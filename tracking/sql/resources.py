"""SQL of files: find and create by path, match by glob."""

from collections.abc import Sequence
from datetime import datetime

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.pages import Condition
from ctxhub.core.text.globs import LAST_CHARACTER, as_regex, literal_start
from tracking.models.resource import type_of_path


def find_resources(project_id: int, paths: Sequence[str]) -> dict[str, int]:
    """Ids by path; unknown paths are left out."""
    among, values = sql.among("path", paths)
    return dict(
        sql.rows(
            f"SELECT path, id FROM tracking_resource WHERE project_id = %s AND {among}",
            [project_id, *values],
        )
    )


def make_resources(project_id: int, paths: Sequence[str], at: datetime) -> dict[str, int]:
    moment = sql.stored_time(at)
    columns = ("project_id", "path", "type", "hash", "access_count", "created_at")
    records = [(project_id, path, type_of_path(path).value, "", 0, moment) for path in paths]
    return dict(sql.insert("tracking_resource", columns, records, "RETURNING path, id"))


def read_resources(project_id: int, ids: Sequence[int]) -> list[tuple[int, str, datetime]]:
    """Id, path and creation time of each file."""
    condition, values = sql.by_ids("r", project_id, ids)
    statement = f"SELECT r.id, r.path, r.created_at FROM tracking_resource r WHERE {condition}"
    found = sql.rows(statement, values)
    return [(row_id, path, sql.read_time(created_at)) for row_id, path, created_at in found]


def matching(glob: str, path: str) -> Condition:
    """Condition that the SQL expression `path` matches a glob, for the current engine."""
    if connection.vendor == "sqlite":
        return f"{path} || '/' REGEXP %s", [as_regex(glob)]
    return f"{path} || '/' ~ %s", [as_regex(glob, atomic="(?:")]


def within(glob: str, column: str) -> Condition:
    """Like `matching` for an indexed column; reads only the range with the glob's literal prefix."""
    matched, values = matching(glob, column)
    if start := literal_start(glob):
        bounds = [start, start + chr(LAST_CHARACTER)]
        return f"{column} >= %s AND {column} < %s AND {matched}", [*bounds, *values]
    return matched, values


def resources_within(project_id: int, glob: str, at_most: int) -> list[int]:
    """Ids of up to `at_most` files that a glob matches."""
    condition, values = within(glob, "path")
    found = sql.rows(
        f"SELECT id FROM tracking_resource WHERE project_id = %s AND {condition} LIMIT %s",
        [project_id, *values, at_most],
    )
    return [row_id for (row_id,) in found]


def list_resources(
    project_id: int, glob: str | None, limit: int, after: str | None
) -> list[tuple[str, int | None, str | None, datetime | None]]:
    """One page by path: path, and the last change's kind, agent and time."""
    conditions, values = ["r.project_id = %s"], [project_id]
    if glob:
        condition, glob_values = within(glob, "r.path")
        conditions.append(condition)
        values += glob_values
    if after is not None:
        conditions.append("r.path > %s")
        values.append(after)  # type: ignore[arg-type]
    statement = f"""
        WITH page AS MATERIALIZED (
            SELECT r.id, r.path FROM tracking_resource r WHERE {" AND ".join(conditions)}
            ORDER BY r.path LIMIT %s)
        SELECT page.path, c.change, CASE WHEN c.id IS NULL THEN NULL ELSE coalesce(a.name, 'system') END, c.at
        FROM page
        LEFT JOIN tracking_filechange c ON c.id = (
            SELECT x.id FROM tracking_filechange x WHERE x.resource_id = page.id
            ORDER BY x.at DESC, x.id DESC LIMIT 1)
        LEFT JOIN core_agent a ON a.id = c.agent_id
        ORDER BY page.path"""
    found = sql.rows(statement, [*values, limit])
    return [(path, change, by, at and sql.read_time(at)) for path, change, by, at in found]
