"""Walks along causes and dependencies, with one statement for a walk. Every walk stops at a known id."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from ctxhub.core.kit import sql
from memory.snapshots.sql.links import SUMMARY_CHARACTERS

ROOT = "SELECT id FROM memory_snapshot WHERE id = %s AND project_id = %s"
Neighbours = tuple[str, str, str]
"""A column with ids, its table, and the condition that they are next to `w.id`."""


@dataclass(frozen=True, slots=True)
class Step:
    """A snapshot that a walk came to."""

    id: int
    action_type: int
    summary: str
    at: datetime
    caused_by_id: int | None
    dependencies: Sequence[int]


def read_ancestors(project_id: int, snapshot_id: int, at_most: int, line: int) -> list[Step]:
    """A snapshot and what it rests on, `at_most` of them, the nearest; and the `line` of its causes."""
    causes = "SELECT s.caused_by_id FROM cause c JOIN memory_snapshot s ON s.id = c.id"
    parents = _next(
        ("s.caused_by_id", "memory_snapshot s", "s.id = w.id AND s.caused_by_id IS NOT NULL"),
        ("l.dependency_id", "memory_snapshotdependency l", "l.snapshot_id = w.id"),
    )
    return _steps(
        f"""
        WITH RECURSIVE cause(id) AS ({ROOT} UNION {causes} WHERE s.caused_by_id IS NOT NULL),
            walk(id) AS ({ROOT} UNION {parents}),
            found AS (
                SELECT id FROM (SELECT id FROM cause LIMIT %s) a
                UNION SELECT id FROM (SELECT id FROM walk LIMIT %s) b)""",
        [snapshot_id, project_id, snapshot_id, project_id, line, at_most],
    )


def read_descendants(project_id: int, snapshot_id: int, at_most: int) -> list[Step]:
    """A snapshot and what rests on it, `at_most` of them, the nearest."""
    children = _next(
        ("s.id", "memory_snapshot s", "s.caused_by_id = w.id"),
        ("l.snapshot_id", "memory_snapshotdependency l", "l.dependency_id = w.id"),
    )
    return _steps(
        f"""
        WITH RECURSIVE walk(id) AS ({ROOT} UNION {children}),
            found AS (SELECT id FROM walk LIMIT %s)""",
        [snapshot_id, project_id, at_most],
    )


def _next(*neighbours: Neighbours) -> str:
    """The recursive part of a walk. PostgreSQL takes one reference to the walk, SQLite has no LATERAL."""
    if connection.vendor == "sqlite":
        return " UNION ".join(
            f"SELECT {column} FROM walk w CROSS JOIN {table} WHERE {condition}"
            for column, table, condition in neighbours
        )
    each = " UNION ALL ".join(
        f"SELECT {column} AS id FROM {table} WHERE {condition}" for column, table, condition in neighbours
    )
    return f"SELECT n.id FROM walk w CROSS JOIN LATERAL ({each}) n"


def _steps(found: str, values: Sequence[Any]) -> list[Step]:
    others = sql.json_list("l.dependency_id")
    rows = sql.rows(
        f"""
        {found}
        SELECT s.id, s.action_type, substr(s.summary, 1, {SUMMARY_CHARACTERS}), s.created_at, s.caused_by_id,
            (SELECT {others} FROM memory_snapshotdependency l WHERE l.snapshot_id = s.id)
        FROM found CROSS JOIN memory_snapshot s WHERE s.id = found.id""",
        values,
    )
    return [
        Step(row_id, action, summary, sql.read_time(at), cause, sql.read_json(dependencies) or ())
        for row_id, action, summary, at, cause, dependencies in rows
    ]
