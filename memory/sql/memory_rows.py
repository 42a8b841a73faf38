"""The row of a memory with the names of what it points to, and how it is read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from ctxhub.core import sql
from memory.models.memory import Difficulty, MemoryType


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A memory with the names of what it points to. `id` is 0 before it is stored; lists have no content."""

    title: str
    context: str
    context_id: int
    digest: str
    tokens: int
    type: int
    agent: str
    agent_id: int | None
    created_at: datetime
    updated_at: datetime
    id: int = 0
    difficulty: int | None = None
    stack: str = ""
    tags: Sequence[str] = ()
    content: str = ""
    paths: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def spoken_type(self) -> str:
        return str(MemoryType(self.type).label)

    @property
    def spoken_difficulty(self) -> str | None:
        return str(Difficulty(self.difficulty).label) if self.difficulty else None


LISTED = (
    *("title", "context", "context_id", "digest", "tokens", "type", "agent", "agent_id"),
    *("created_at", "updated_at", "id", "difficulty", "stack", "tags"),
)
WHOLE = (*LISTED, "content", "paths", "metadata")


def read_memories(project_id: int, ids: Sequence[int], fields: Sequence[str] = WHOLE) -> dict[int, MemoryRow]:
    """By their ids."""
    if not ids:
        return {}
    which, values = sql.by_ids("d", project_id, ids)
    statement = f"SELECT {selected(fields)} FROM memory_memory d {JOINS} WHERE {which}"  # noqa: S608
    return {row.id: row for row in as_rows(fields, sql.rows(statement, values))}


@cache
def selected(fields: Sequence[str]) -> str:
    """The SQL that reads these fields of a MemoryRow from `memory_memory d`."""
    names = sql.json_list("w.name")
    expressions = {
        "agent": "coalesce(a.name, 'system')",
        "context": "c.name",
        "tags": f"(SELECT {names} FROM memory_memorytag x JOIN core_tag w ON w.id = x.tag_id"  # noqa: S608
        " WHERE x.memory_id = d.id)",
    }
    return ", ".join(expressions.get(name, f"d.{name}") for name in fields)


JOINS = "JOIN memory_context c ON c.id = d.context_id LEFT JOIN core_agent a ON a.id = d.agent_id"


def as_rows(fields: Sequence[str], found: Iterable[Sequence[Any]]) -> list[MemoryRow]:
    converted = [(name, _CONVERTED[name]) for name in fields if name in _CONVERTED]
    rows = []
    for values in found:
        named = dict(zip(fields, values, strict=True))
        for name, read in converted:
            named[name] = read(named[name])
        rows.append(MemoryRow(**named))
    return rows


def _words(value: Any) -> list[str]:
    return sorted(sql.read_json(value) or (), key=str.casefold)


_CONVERTED: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("created_at", "updated_at"), sql.read_time),
    "tags": _words,
    **dict.fromkeys(("paths", "metadata"), sql.read_json),
}
