"""The row of a constraint with the names of what it points to, and how it is read."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from ctxhub.core import sql
from ctxhub.core.models.priority import Priority
from memory.models.constraint import ConstraintStatus, digest_of, rank_of


@dataclass(frozen=True, slots=True)
class ConstraintRow:
    """A constraint with the names of what it points to. `id` is 0 before it is stored."""

    category: str
    category_id: int
    text: str
    priority: int
    status: int
    agent: str
    agent_id: int | None
    created_at: datetime
    updated_at: datetime
    id: int = 0
    layer: str | None = None
    layer_id: int | None = None
    tags: Sequence[str] = ()
    scopes: Sequence[str] = ()
    paths: Sequence[str] = ()
    reason: str = ""

    @property
    def spoken_priority(self) -> str:
        return str(Priority(self.priority).label)

    @property
    def spoken_status(self) -> str:
        return str(ConstraintStatus(self.status).label)

    @property
    def digest(self) -> str:
        return digest_of(self.text)

    @property
    def rank(self) -> str:
        return rank_of(self.priority, self.category)


FIELDS = (
    *("id", "category", "category_id", "text", "priority", "status", "agent", "agent_id"),
    *("created_at", "updated_at", "layer", "layer_id", "tags", "scopes", "paths", "reason"),
)


def read_constraints(project_id: int, ids: Sequence[int]) -> dict[int, ConstraintRow]:
    if not ids:
        return {}
    return {row.id: row for row in _read(*sql.by_ids("d", project_id, ids))}


def find_same(project_id: int, category_id: int, digest: str) -> ConstraintRow | None:
    """The constraint of this category that says the same."""
    found = _read(
        "d.category_id = %s AND d.digest = %s AND d.project_id = %s", [category_id, digest, project_id]
    )
    return found[0] if found else None


def as_rows(found: Iterable[Sequence[Any]]) -> list[ConstraintRow]:
    rows = []
    for values in found:
        named = dict(zip(FIELDS, values, strict=True))
        rows.append(ConstraintRow(**named | {name: read(named[name]) for name, read in _CONVERTED.items()}))
    return rows


@cache
def selected() -> str:
    """The SQL that reads a ConstraintRow from `memory_constraint d`: columns, and what they come from."""
    expressions = {
        "agent": "coalesce(a.name, 'system')",
        "layer": "l.name",
        "category": "c.name",
        "tags": _names_of("memory_constrainttag", "core_tag", "tag_id"),
        "scopes": _names_of("memory_constraintscope", "core_scope", "scope_id"),
    }
    return ", ".join(expressions.get(name, f"d.{name}") for name in FIELDS)


JOINS = """
    JOIN core_category c ON c.id = d.category_id
    LEFT JOIN core_agent a ON a.id = d.agent_id LEFT JOIN core_layer l ON l.id = d.layer_id"""


def _read(where: str, values: Sequence[Any]) -> list[ConstraintRow]:
    return as_rows(sql.rows(f"SELECT {selected()} FROM memory_constraint d {JOINS} WHERE {where}", values))  # noqa: S608


def _names_of(links: str, words: str, column: str) -> str:
    names = sql.json_list("w.name")
    return f"(SELECT {names} FROM {links} x JOIN {words} w ON w.id = x.{column} WHERE x.constraint_id = d.id)"  # noqa: S608


def _words(value: Any) -> list[str]:
    return sorted(sql.read_json(value) or (), key=str.casefold)


_CONVERTED: dict[str, Callable[[Any], Any]] = {
    "created_at": sql.read_time,
    "updated_at": sql.read_time,
    "tags": _words,
    "scopes": _words,
    "paths": sql.read_json,
}
