"""Dependencies of files: strengthened, walked along, and read in both directions."""

from collections.abc import Callable, Sequence
from datetime import datetime

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing import Any

from django.db import connection
from typing_extensions import TypedDict

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import Listing, Row, page_in_memory
from ctxhub.core.kit.ordering import Ordering, sorted_by
from ctxhub.core.paths.reading import reader_in
from sessions.accesses.inputs import clean_depth, clean_direction
from tracking.files.paths import clean_file
from tracking.files.rows import find_resources

MOST_STRENGTH = 2**31 - 1
ENDS = {"outgoing": ("source_id", "target_id"), "incoming": ("target_id", "source_id")}


@frozen
class DependencyRow:
    """A dependency that was met on a walk: `start` and `end` are the files in the walk's direction."""

    id: int
    start: int
    end: int
    source: str
    target: str
    type: str
    strength: int


def add_strength(
    project_id: int, source_id: int, target_id: int, type: str, strength: int, at: datetime
) -> int:
    """Make a dependency, or add to the strength of the known one; returns its strength."""
    added = f"""
        CASE WHEN d.strength > {MOST_STRENGTH} - excluded.strength THEN {MOST_STRENGTH}
        ELSE d.strength + excluded.strength END"""
    [(stored,)] = sql.insert(
        "agent_sessions_resourcedependency AS d",
        ("project_id", "source_id", "target_id", "type", "strength", "created_at"),
        [(project_id, source_id, target_id, type, strength, sql.stored_time(at))],
        f"ON CONFLICT (source_id, target_id, type) DO UPDATE SET strength = {added} RETURNING strength",
    )
    return int(stored)


def strengths_of_incoming(project_id: int, resource_ids: Sequence[int]) -> dict[int, int]:
    """The sum of the strengths of the dependencies on each of these files; files without any are left out."""
    among, values = sql.among("d.target_id", resource_ids)
    # The plus: see sql.by_ids.
    found = sql.rows(
        f"""
        SELECT d.target_id, sum(d.strength) FROM agent_sessions_resourcedependency d
        WHERE +d.project_id = %s AND {among} GROUP BY d.target_id""",
        [project_id, *values],
    )
    return {resource_id: int(total) for resource_id, total in found}


def files_along(resource_id: int, direction: str, at_most: int) -> list[int]:
    """A file and those that it reaches along dependencies, the nearest first. Each is visited once."""
    statement = f"""
        WITH RECURSIVE reached(id) AS (
            SELECT {_number("%s")}
            UNION
            SELECT d.id FROM reached {_next_files(*ENDS[direction])})
        SELECT id FROM reached LIMIT %s"""
    return [row_id for (row_id,) in sql.rows(statement, [resource_id, at_most])]


def _next_files(start: str, end: str) -> str:
    """A join of `reached` to the files one step further, as `d`."""
    step = f"SELECT {end} AS id, {start} AS start FROM agent_sessions_resourcedependency"
    if connection.vendor == "sqlite":
        return f"JOIN ({step}) d ON d.start = reached.id"
    # OFFSET keeps PostgreSQL from reading all dependencies at each step: a chain took 2 s.
    return f"CROSS JOIN LATERAL ({step} WHERE {start} = reached.id OFFSET 0) d"


def dependencies_of(resource_ids: Sequence[int], direction: str, at_most: int) -> list[DependencyRow]:
    """The dependencies that leave these files in a direction, in the order of the files."""
    start, end = ENDS[direction]
    asked, values = sql.listed([str(resource_id) for resource_id in resource_ids])
    statement = f"""
        WITH met AS MATERIALIZED (
            SELECT d.id, asked.key FROM {asked} CROSS JOIN agent_sessions_resourcedependency d
            WHERE d.{start} = {_number("asked.value")} ORDER BY asked.key, d.id LIMIT %s)
        SELECT d.id, d.{start}, d.{end}, a.path, b.path, d.type, d.strength
        FROM met CROSS JOIN agent_sessions_resourcedependency d
        JOIN tracking_resource a ON a.id = d.source_id JOIN tracking_resource b ON b.id = d.target_id
        WHERE d.id = met.id ORDER BY met.key, d.id"""
    return [DependencyRow(*row) for row in sql.rows(statement, [*values, at_most])]


def _number(expression: str) -> str:
    return f"CAST({expression} AS {'bigint' if connection.vendor == 'postgresql' else 'integer'})"


COLUMNS = ("source", "target", "type", "strength", "depth")
MOST_ROWS = 1_000


class ListedDependency(TypedDict):
    source: str
    target: str
    type: str
    strength: int
    depth: int


@frozen
class Met:
    """A dependency, and how many steps it is from the file that was asked for."""

    row: DependencyRow
    depth: int


ORDERS: dict[str, Callable[[Met], Any]] = {
    "depth": lambda one: one.depth,
    "strength": lambda one: one.row.strength,
    "source": lambda one: one.row.source,
    "target": lambda one: one.row.target,
    "type": lambda one: one.row.type,
}


def list_dependencies(
    project_id: int,
    *,
    path: str,
    direction: str = "both",
    depth: int = 1,
    limit: int = MOST_ROWS,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """Rows source, target, type, strength, depth: the nearest first, each once, 1,000 at most.

    `outgoing`: what the file needs; `incoming`: what needs it. An unknown path has none.
    """
    file = clean_file(path, reader=reader_in(project_id))
    limit, depth = clean_limit(limit, at_most=MOST_ROWS), clean_depth(depth)
    word = clean_direction(direction)
    ids = find_resources(project_id, [file])
    found = _walk(ids[file], word, depth) if ids else []
    rows, is_cut = sorted_by(found[:MOST_ROWS], ordering, ORDERS), len(found) > MOST_ROWS
    return page_in_memory(COLUMNS, rows, _row, limit=limit, cursor=cursor, is_cut=is_cut, ordering=ordering)


def _row(met: Met) -> Row:
    return [met.row.source, met.row.target, met.row.type, met.row.strength, met.depth]


def _walk(resource_id: int, direction: str, depth: int) -> list[Met]:
    """The dependencies in one or both directions, the nearest first."""
    met: dict[int, Met] = {}
    for word in ("outgoing", "incoming") if direction == "both" else (direction,):
        for one in _walk_along(resource_id, word, depth):
            if one.row.id not in met or one.depth < met[one.row.id].depth:
                met[one.row.id] = one
    return sorted(met.values(), key=lambda one: one.depth)


def _walk_along(resource_id: int, direction: str, depth: int) -> list[Met]:
    # A dependency among the nearest 1,000 begins at one of the nearest 1,001 files.
    files = files_along(resource_id, direction, MOST_ROWS + 1) if depth > 1 else [resource_id]
    return _with_depths(resource_id, dependencies_of(files, direction, MOST_ROWS + 1), depth)


def _with_depths(resource_id: int, rows: Sequence[DependencyRow], most: int) -> list[Met]:
    """Count the steps along rows that are in the order in which their files are reached."""
    depths = {resource_id: 0}
    found = []
    for row in rows:
        depth = depths[row.start] + 1
        depths.setdefault(row.end, depth)
        if depth <= most:
            found.append(Met(row, depth))
    return found
