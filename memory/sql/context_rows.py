"""The row of a context with the names of what it points to, and how it is read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from ctxhub.core import sql


@dataclass(frozen=True, slots=True)
class ContextRow:
    """A context with the names of what it points to. `id` is 0 before it is stored."""

    name: str
    agent: str
    agent_id: int | None
    created_at: datetime
    updated_at: datetime
    changed_at: datetime
    id: int = 0
    description: str = ""
    stack: str = ""
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    memory_count: int = 0


FIELDS = (
    *("id", "name", "description", "stack", "tags", "metadata", "memory_count", "agent", "agent_id"),
    *("created_at", "updated_at", "changed_at"),
)
JOINS = "LEFT JOIN core_agent a ON a.id = d.agent_id"


def read_contexts(project_id: int, ids: Sequence[int]) -> dict[int, ContextRow]:
    """By their ids."""
    if not ids:
        return {}
    return {row.id: row for row in _read(*sql.by_ids("d", project_id, ids))}


def find_named(project_id: int, folded: str) -> ContextRow | None:
    """The context of this name, case-folded."""
    found = _read("d.project_id = %s AND d.folded = %s", [project_id, folded])
    return found[0] if found else None


def ids_of_names(project_id: int, folded: Sequence[str]) -> dict[str, int]:
    """By their case-folded names."""
    among, values = sql.among("folded", folded)
    return dict(
        sql.rows(
            f"SELECT folded, id FROM memory_context WHERE project_id = %s AND {among}",  # noqa: S608
            [project_id, *values],
        )
    )


def newest_names(project_id: int, at_most: int) -> list[str]:
    rows = sql.rows(
        "SELECT name FROM memory_context WHERE project_id = %s ORDER BY updated_at DESC, id DESC LIMIT %s",
        [project_id, at_most],
    )
    return [name for (name,) in rows]


def as_rows(found: Iterable[Sequence[Any]]) -> list[ContextRow]:
    rows = []
    for values in found:
        named = dict(zip(FIELDS, values, strict=True))
        rows.append(ContextRow(**named | {name: read(named[name]) for name, read in _CONVERTED.items()}))
    return rows


@cache
def selected() -> str:
    """The SQL that reads a ContextRow from `memory_context d`."""
    names = sql.json_list("w.name")
    expressions = {
        "agent": "coalesce(a.name, 'system')",
        "tags": f"(SELECT {names} FROM memory_contexttag x JOIN core_tag w ON w.id = x.tag_id"  # noqa: S608
        " WHERE x.context_id = d.id)",
    }
    return ", ".join(expressions.get(name, f"d.{name}") for name in FIELDS)


def _read(where: str, values: Sequence[Any]) -> list[ContextRow]:
    return as_rows(sql.rows(f"SELECT {selected()} FROM memory_context d {JOINS} WHERE {where}", values))  # noqa: S608


def _words(value: Any) -> list[str]:
    return sorted(sql.read_json(value) or (), key=str.casefold)


_CONVERTED: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("created_at", "updated_at", "changed_at"), sql.read_time),
    "tags": _words,
    "metadata": sql.read_json,
}
