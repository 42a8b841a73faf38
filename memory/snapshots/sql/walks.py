"""Walks along causes and dependencies, with one statement for a walk. Every walk stops at a known id."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from memory.snapshots.sql.links import SUMMARY_CHARACTERS, WHY

ROOT = "SELECT id FROM memory_snapshot WHERE id = %s AND project_id = %s"
Neighbours = tuple[str, str, str]
"""A column with ids, its table, and the condition that they are next to `w.id`."""


@frozen
class Step:
    """A snapshot that a walk came to. `why`: its rationale, else its summary."""

    id: int
    action_type: int
    summary: str
    why: str
    at: datetime
    caused_by_id: int | None
    dependencies: Sequence[int]


def read_ancestors(project_id: int, snapshot_id: int, at_most: int, line: int) -> list[Step]:
    """A snapshot and what it rests on, `at_most` of them, the nearest; and the `line` of its causes."""
    # A root adds a null. Without it SQLite, if it has statistics, reads the whole table for a Bloom filter.
    cause = ("s.caused_by_id", "memory_snapshot s", "s.id = w.id")
    needed = ("l.dependency_id", "memory_snapshotdependency l", "l.snapshot_id = w.id")
    return _steps(
        f"""
        WITH RECURSIVE cause(id) AS ({ROOT} UNION {_next("cause", cause)}),
            walk(id) AS ({ROOT} UNION {_next("walk", cause, needed)}),
            found AS (
                SELECT id FROM (SELECT id FROM cause WHERE id IS NOT NULL LIMIT %s) a
                UNION SELECT id FROM (SELECT id FROM walk WHERE id IS NOT NULL LIMIT %s) b)""",
        [snapshot_id, project_id, snapshot_id, project_id, line, at_most],
    )


def read_descendants(project_id: int, snapshot_id: int, at_most: int) -> list[Step]:
    """A snapshot and what rests on it, `at_most` of them, the nearest."""
    effect = ("s.id", "memory_snapshot s", "s.caused_by_id = w.id")
    dependent = ("l.snapshot_id", "memory_snapshotdependency l", "l.dependency_id = w.id")
    return _steps(
        f"""
        WITH RECURSIVE walk(id) AS ({ROOT} UNION {_next("walk", effect, dependent)}),
            found AS (SELECT id FROM walk LIMIT %s)""",
        [snapshot_id, project_id, at_most],
    )


def _next(walk: str, *neighbours: Neighbours) -> str:
    """The recursive part of a walk. PostgreSQL takes one reference to the walk, SQLite has no LATERAL."""
    if connection.vendor == "sqlite":
        return " UNION ".join(
            f"SELECT {column} FROM {walk} w CROSS JOIN {table} WHERE {condition}"
            for column, table, condition in neighbours
        )
    each = " UNION ALL ".join(
        f"SELECT {column} AS id FROM {table} WHERE {condition}" for column, table, condition in neighbours
    )
    return f"SELECT n.id FROM {walk} w CROSS JOIN LATERAL ({each}) n"


def _steps(found: str, values: Sequence[Any]) -> list[Step]:
    others = sql.json_list("l.dependency_id")
    rows = sql.rows(
        f"""
        {found}
        SELECT s.id, s.action_type, substr(s.summary, 1, {SUMMARY_CHARACTERS}),
            substr({WHY}, 1, {SUMMARY_CHARACTERS}), s.created_at, s.caused_by_id,
            (SELECT {others} FROM memory_snapshotdependency l WHERE l.snapshot_id = s.id)
        FROM found CROSS JOIN {_row()}""",
        values,
    )
    return [
        Step(row_id, action, summary, why, sql.read_time(at), cause, sql.read_json(dependencies) or ())
        for row_id, action, summary, why, at, cause, dependencies in rows
    ]


def _row() -> str:
    """The row of a found id as `s`, read by its id: a walk is short, and the table may be long."""
    if connection.vendor == "sqlite":
        return "memory_snapshot s WHERE s.id = found.id"
    return "LATERAL (SELECT * FROM memory_snapshot WHERE id = found.id OFFSET 0) s"
