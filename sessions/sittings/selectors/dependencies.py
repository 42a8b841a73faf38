"""Reads the dependencies of a file: those that it needs, and those that need it."""

from collections.abc import Sequence

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import Listing, Row, page_in_memory
from ctxhub.core.paths.reading import reader_in
from sessions.sittings.inputs.resources import clean_depth, clean_direction
from sessions.sittings.sql.dependencies import (
    DependencyRow,
    dependencies_of,
    files_along,
    strengths_of_incoming,
)
from tracking.selectors import resources
from tracking.selectors.paths import clean_file
from tracking.sql.resources import find_resources

COLUMNS = ("source", "target", "type", "strength", "depth")
MOST_ROWS = 1_000

resources.strengths_of_incoming.append(strengths_of_incoming)


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


def list_dependencies(
    project_id: int,
    *,
    path: str,
    direction: str = "both",
    depth: int = 1,
    limit: int = MOST_ROWS,
    cursor: str | None = None,
) -> Listing:
    """Rows source, target, type, strength, depth: the nearest first, each once, 1,000 at most.

    `outgoing`: what the file needs; `incoming`: what needs it. An unknown path has none.
    """
    file = clean_file(path, reader=reader_in(project_id))
    limit, depth = clean_limit(limit, at_most=MOST_ROWS), clean_depth(depth)
    word = clean_direction(direction)
    ids = find_resources(project_id, [file])
    found = _walk(ids[file], word, depth) if ids else []
    rows, is_cut = found[:MOST_ROWS], len(found) > MOST_ROWS
    return page_in_memory(COLUMNS, rows, _row, limit=limit, cursor=cursor, is_cut=is_cut)


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
