"""Causes and dependencies of snapshots: stored, walked along, and as links for objects of all kinds."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import VALUES_AT_ONCE
from ctxhub.core.links import Asked, Head, Link, LinkSource, Reach, Words
from memory.snapshots.models import ActionType

CAUSED_BY, DEPENDS_ON = "caused_by", "depends_on"

Ways = Mapping[tuple[int, str], Sequence[int]]
"""The snapshots next to one, by its id and the kind of the link."""


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


def read_links_of(ids: Sequence[int], *, with_why: bool = False) -> dict[int, Links]:
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


ROOT = "SELECT id FROM memory_snapshot WHERE id = %s AND project_id = %s"
Neighbours = tuple[str, str, str]
"""A column with ids, its table, and the condition that they are next to `w.id`."""


@frozen
class WalkedSnapshot:
    """A snapshot that a walk came to. `why`: its rationale, else its summary."""

    id: int
    action_type: int
    summary: str
    why: str
    at: datetime
    caused_by_id: int | None
    dependencies: Sequence[int]


def read_ancestors(project_id: int, snapshot_id: int, at_most: int, line: int) -> list[WalkedSnapshot]:
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


def read_descendants(project_id: int, snapshot_id: int, at_most: int) -> list[WalkedSnapshot]:
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


def _steps(found: str, values: Sequence[Any]) -> list[WalkedSnapshot]:
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
        WalkedSnapshot(
            row_id, action, summary, why, sql.read_time(at), cause, sql.read_json(dependencies) or ()
        )
        for row_id, action, summary, why, at, cause, dependencies in rows
    ]


def _row() -> str:
    """The row of a found id as `s`, read by its id: a walk is short, and the table may be long."""
    if connection.vendor == "sqlite":
        return "memory_snapshot s WHERE s.id = found.id"
    return "LATERAL (SELECT * FROM memory_snapshot WHERE id = found.id OFFSET 0) s"


KIND = "snapshot"
WORDS = {
    CAUSED_BY: Words("was caused by", "led to"),
    DEPENDS_ON: Words("depends on", "is needed by"),
}
# A walk lists 1,000 snapshots; one more shows that there are others.
MOST_READ = 1_001


def read_links(asked: Asked) -> list[Link]:
    """The links of snapshots with their direct causes, or with what directly rests on them."""
    if not (ids := asked.ids(KIND)):
        return []
    effect, cause = ("s.id", "s.caused_by_id"), ("l.snapshot_id", "l.dependency_id")
    ends = [pair if asked.to_causes else pair[::-1] for pair in (effect, cause)]
    causes, values = sql.among(ends[0][0], ids)
    dependencies, _ = sql.among(ends[1][0], ids)
    rows = sql.rows(
        f"""
        SELECT {", ".join(ends[0])}, 0 FROM memory_snapshot s
        WHERE {causes} AND +s.project_id = %s AND s.caused_by_id IS NOT NULL
        UNION ALL SELECT {", ".join(ends[1])}, 1 FROM memory_snapshotdependency l
        WHERE {dependencies} AND +l.project_id = %s
        ORDER BY 3, 1, 2 LIMIT %s""",
        [*values, asked.project_id, *values, asked.project_id, asked.at_most],
    )
    names = {0: CAUSED_BY, 1: DEPENDS_ON}
    return [Link((KIND, one), (KIND, other), names[loose], bool(loose)) for one, other, loose in rows]


def read_reach(project_id: int, snapshot_id: int, to_causes: bool) -> Reach:
    """A snapshot and what it rests on, or what rests on it: at most 1,001 others, and the line of causes."""
    found = (
        read_ancestors(project_id, snapshot_id, MOST_READ, MOST_READ)
        if to_causes
        else read_descendants(project_id, snapshot_id, MOST_READ + 1)
    )
    keys = {step.id: (KIND, step.id) for step in found}
    links: list[Link] = []
    for step in found:
        effect = keys[step.id]
        for cause, name, is_loose in _causes(step):
            if cause in keys:
                ends = (effect, keys[cause]) if to_causes else (keys[cause], effect)
                links.append(Link(*ends, name, is_loose))
    return Reach({keys[step.id]: _head(step) for step in found}, links)


def read_heads(
    project_id: int, ids: Sequence[int], *, why_characters: int = SUMMARY_CHARACTERS
) -> Mapping[int, Head]:
    where, values = sql.by_ids("s", project_id, ids)
    rows = sql.rows(
        f"SELECT s.id, s.action_type, substr(s.summary, 1, {SUMMARY_CHARACTERS}),"
        f" substr({WHY}, 1, {why_characters}), s.created_at FROM memory_snapshot s WHERE {where}",
        values,
    )
    steps = [
        WalkedSnapshot(row_id, action, text, why, sql.read_time(at), None, ())
        for row_id, action, text, why, at in rows
    ]
    return {step.id: _head(step) for step in steps}


def _causes(step: WalkedSnapshot) -> Iterator[tuple[int, str, bool]]:
    """What a snapshot rests on, with the name of the link, and whether it is loose.

    Dependencies are: they are found automatically, and so no short cuts along causes.
    """
    if step.caused_by_id:
        yield step.caused_by_id, CAUSED_BY, False
    for other in step.dependencies:
        yield other, DEPENDS_ON, True


def _head(step: WalkedSnapshot) -> Head:
    action = str(ActionType(step.action_type).label)
    return Head(step.id, action, step.summary, step.at, step.at, [f"{KIND}:{step.id}"], step.why)


LINKS = LinkSource(read_links, read_reach=read_reach, words=WORDS)
