"""Reads and writes the causes and dependencies of snapshots."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ctxhub.core.kit import sql
from ctxhub.core.kit.rows import VALUES_AT_ONCE

COLUMNS = ("project_id", "snapshot_id", "dependency_id")
# Longer summaries are cut by what shows them.
SUMMARY_CHARACTERS = 201
# Of the alias `s`.
WHY = "coalesce(nullif(s.rationale, ''), s.summary)"

Linked = tuple[int, str, str]
"""The id, the summary and the rationale of a snapshot."""


@dataclass(slots=True)
class Links:
    """What a snapshot rests on, and the number of snapshots that rest on it."""

    cause: Linked | None = None
    dependencies: list[Linked] = field(default_factory=list)
    dependents: int = 0


def read_links(ids: Sequence[int], *, with_why: bool = False) -> dict[int, Links]:
    """The links of these snapshots, each one's dependencies in their order, by one statement.

    The rationales are read `with_why`, else they are "".
    """
    found = {row_id: Links() for row_id in ids}
    if not ids:
        return found
    # A subquery instead of a join: PostgreSQL plans it in two thirds of the time.
    summary = f"SELECT substr(s.summary, 1, {SUMMARY_CHARACTERS}) FROM memory_snapshot s WHERE s.id ="

    def of(column: str) -> str:
        reason = f"substr(s.rationale, 1, {SUMMARY_CHARACTERS})"
        return f"(SELECT {reason} FROM memory_snapshot s WHERE s.id = {column})" if with_why else "''"

    is_effect, values = sql.among("d.id", ids)
    rests, _ = sql.among("l.snapshot_id", ids)
    is_cause, _ = sql.among("c.caused_by_id", ids)
    is_needed, _ = sql.among("l.dependency_id", ids)
    rows = sql.rows(
        f"""
        SELECT d.id AS owner, 0 AS position, d.caused_by_id, ({summary} d.caused_by_id),
            {of("d.caused_by_id")}
        FROM memory_snapshot d WHERE {is_effect} AND d.caused_by_id IS NOT NULL
        UNION ALL
        SELECT l.snapshot_id, l.id, l.dependency_id, ({summary} l.dependency_id), {of("l.dependency_id")}
        FROM memory_snapshotdependency l WHERE {rests}
        UNION ALL
        SELECT n.owner, -1, count(*), '', '' FROM (
            SELECT c.caused_by_id AS owner, c.id AS child FROM memory_snapshot c WHERE {is_cause}
            UNION
            SELECT l.dependency_id, l.snapshot_id FROM memory_snapshotdependency l WHERE {is_needed}
        ) n GROUP BY n.owner
        ORDER BY owner, position""",
        values * 4,
    )
    for owner, position, other, text, why in rows:
        if position == -1:
            found[owner].dependents = other
        elif position == 0:
            found[owner].cause = (other, text, why)
        else:
            found[owner].dependencies.append((other, text, why))
    return found


def count_dependents(snapshot_id: int) -> int:
    """How many snapshots name this one as cause or dependency."""
    [(count,)] = sql.rows(
        """
        SELECT count(*) FROM (
            SELECT id FROM memory_snapshot WHERE caused_by_id = %s
            UNION SELECT snapshot_id FROM memory_snapshotdependency WHERE dependency_id = %s) d""",
        [snapshot_id, snapshot_id],
    )
    return int(count)


def read_known_ids(project_id: int, ids: Sequence[int]) -> set[int]:
    """Which of these ids are snapshots of the project."""
    storable = [row_id for row_id in ids if 0 < row_id < 2**63]
    if not storable:
        return set()
    condition, values = sql.by_ids("d", project_id, storable)
    return {row_id for (row_id,) in sql.rows(f"SELECT d.id FROM memory_snapshot d WHERE {condition}", values)}


def read_newest_ids(
    project_id: int, agent_id: int, *, since: datetime, before: datetime, at_most: int, except_id: int = 0
) -> list[int]:
    """The newest snapshots of an agent in a time, except one."""
    rows = sql.rows(
        """
        SELECT id FROM memory_snapshot
        WHERE project_id = %s AND agent_id = %s AND created_at >= %s AND created_at < %s AND id <> %s
        ORDER BY created_at DESC, id DESC LIMIT %s""",
        [project_id, agent_id, sql.stored_time(since), sql.stored_time(before), except_id, at_most],
    )
    return [row_id for (row_id,) in rows]


def insert_dependencies(project_id: int, pairs: Iterable[tuple[int, int]]) -> None:
    """Store pairs of a snapshot and one that it rests on."""
    records = [(project_id, *pair) for pair in pairs]
    for some in sql.chunks(records, VALUES_AT_ONCE // len(COLUMNS)):
        sql.insert("memory_snapshotdependency", COLUMNS, some)


def read_dependencies_among(ids: Sequence[int]) -> list[tuple[int, int]]:
    """The pairs of a snapshot and one that it rests on, both of these, in order."""
    if not ids:
        return []
    rests, values = sql.among("l.snapshot_id", ids)
    is_needed, _ = sql.among("l.dependency_id", ids)
    rows = sql.rows(
        f"""
        SELECT l.snapshot_id, l.dependency_id FROM memory_snapshotdependency l
        WHERE {rests} AND {is_needed} ORDER BY l.snapshot_id DESC, l.id""",
        [*values, *values],
    )
    return [(source, target) for source, target in rows]
