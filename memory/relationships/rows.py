"""Reads, writes and deletes relationships, each in one statement."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.hub.refs import ObjectKey
from ctxhub.core.kit import sql
from ctxhub.core.kit.deletes import delete_where
from ctxhub.core.kit.frozen import frozen
from memory.relationships.models import Relation, Relationship

COLUMNS = "id, source_kind, source_id, target_kind, target_id, relation, strength, is_found"


@frozen
class Edge:
    """A relationship. `id` is 0 before it is stored; `is_found`: stored from a suggestion."""

    source: ObjectKey
    target: ObjectKey
    relation: int
    strength: int
    is_found: bool = False
    id: int = 0

    @property
    def relation_label(self) -> str:
        return str(Relation(self.relation).label)


def read_edges(project_id: int, ids: Sequence[int]) -> list[Edge]:
    """The relationships of these ids."""
    which, values = sql.by_ids("d", project_id, ids)
    return _edges(f"SELECT {COLUMNS} FROM memory_relationship d WHERE {which}", values)


def read_edges_from(project_id: int, source: ObjectKey, target: ObjectKey) -> list[Edge]:
    """The relationships from one object to another, in this direction only."""
    return _edges(
        f"SELECT {COLUMNS} FROM memory_relationship WHERE project_id = %s AND source_kind = %s"
        " AND source_id = %s AND target_kind = %s AND target_id = %s ORDER BY id",
        [project_id, *source, *target],
    )


def read_edges_of(project_id: int, keys: Iterable[ObjectKey], at_most: int) -> list[Edge]:
    """The relationships that begin or end at these objects, the strongest first."""
    branches, values = [], []
    for end in ("source", "target"):
        for kind, ids in by_kind(keys).items():
            among, arguments = sql.among(f"{end}_id", ids)
            branches.append(
                f"SELECT {COLUMNS} FROM memory_relationship"
                f" WHERE project_id = %s AND {end}_kind = %s AND {among}"
            )
            values += [project_id, kind, *arguments]
    found = " UNION ".join(branches)
    return _edges(
        f"SELECT * FROM ({found}) e ORDER BY strength DESC, id LIMIT %s",
        [*values, at_most],
    )


def read_related(project_id: int, key: ObjectKey, kind: str, ids: Sequence[int]) -> set[int]:
    """The ids among those of a kind that are related to an object, in either direction."""
    if not ids:
        return set()
    branches, values = [], []
    for own, other in (("source", "target"), ("target", "source")):
        among, arguments = sql.among(f"{other}_id", ids)
        branches.append(
            f"SELECT {other}_id FROM memory_relationship"
            f" WHERE project_id = %s AND {own}_kind = %s AND {own}_id = %s AND {other}_kind = %s AND {among}"
        )
        values += [project_id, *key, kind, *arguments]
    return {row_id for (row_id,) in sql.rows(" UNION ".join(branches), values)}


def insert_edges(project_id: int, edges: Sequence[Edge], agent_id: int | None, at: datetime) -> list[int]:
    """Insert relationships and return their ids in the same order."""
    columns = (
        *("project_id", "source_kind", "source_id", "target_kind", "target_id", "relation", "strength"),
        *("is_found", "agent_id", "created_at", "updated_at"),
    )
    moment = sql.stored_time(at)
    records = [
        (project_id, *e.source, *e.target, e.relation, e.strength, e.is_found, agent_id, moment, moment)
        for e in edges
    ]
    inserted = sql.insert("memory_relationship", columns, records, "RETURNING id")
    return sorted(row_id for (row_id,) in inserted)


def write_strength(edge: Edge, strength: int, agent_id: int | None, at: datetime) -> None:
    """Set the strength; a suggested relationship becomes a stated one."""
    sql.execute(
        "UPDATE memory_relationship SET strength = %s, is_found = %s, agent_id = %s, updated_at = %s"
        " WHERE id = %s",
        [strength, False, agent_id, sql.stored_time(at), edge.id],
    )


def delete_edges(ids: Sequence[int]) -> None:
    among, values = sql.among("id", ids)
    sql.execute(f"DELETE FROM memory_relationship WHERE {among}", values)


def delete_edges_of(project_id: int, kind: str, ids: Sequence[int]) -> None:
    """Delete all relationships that begin or end at deleted objects."""
    source, values = sql.among("source_id", ids)
    target, _ = sql.among("target_id", ids)
    branches = (
        f"SELECT id FROM memory_relationship WHERE project_id = %s AND {end}_kind = %s AND {among}"
        for end, among in (("source", source), ("target", target))
    )
    delete_where(Relationship, f"id IN ({' UNION '.join(branches)})", [project_id, kind, *values] * 2)


def by_kind(keys: Iterable[ObjectKey]) -> dict[str, list[int]]:
    ids: dict[str, list[int]] = {}
    for kind, row_id in keys:
        ids.setdefault(kind, []).append(row_id)
    return ids


def _edges(statement: str, values: Sequence[Any]) -> list[Edge]:
    return [
        Edge((source_kind, source), (target_kind, target), relation, strength, bool(is_found), row_id)
        for row_id, source_kind, source, target_kind, target, relation, strength, is_found in sql.rows(
            statement, values
        )
    ]
