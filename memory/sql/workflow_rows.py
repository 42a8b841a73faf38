"""The row of a workflow with how many pads it has, and how it is read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from ctxhub.core import sql


@dataclass(frozen=True, slots=True)
class WorkflowRow:
    """A workflow. `id` is 0 before it is stored."""

    name: str
    agent: str
    agent_id: int | None
    created_at: datetime
    updated_at: datetime
    id: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    is_active: bool = True
    pads: int = 0

    @property
    def is_kept(self) -> bool:
        return is_kept(self.metadata)


FIELDS = (*("id", "name", "metadata", "is_active", "agent", "agent_id", "created_at", "updated_at", "pads"),)


def is_kept(metadata: Mapping[str, Any]) -> bool:
    """Whether it says `keep: never`, or true: it is not cleaned however long nobody writes to it."""
    said = metadata.get("keep")
    return said is True or (isinstance(said, str) and said.strip().lower() == "never")


def read_workflows(project_id: int, ids: Sequence[int]) -> dict[int, WorkflowRow]:
    """By their ids."""
    if not ids:
        return {}
    which, values = sql.by_ids("d", project_id, ids)
    statement = f"SELECT {selected()} FROM memory_workflow d {JOINS} WHERE {which}"  # noqa: S608
    return {row.id: row for row in as_rows(sql.rows(statement, values))}


@cache
def selected() -> str:
    """The SQL that reads a WorkflowRow from `memory_workflow d`."""
    expressions = {
        "agent": "coalesce(a.name, 'system')",
        "pads": "(SELECT count(*) FROM memory_scratchpad p WHERE p.workflow_id = d.id)",
    }
    return ", ".join(expressions.get(name, f"d.{name}") for name in FIELDS)


JOINS = "LEFT JOIN core_agent a ON a.id = d.agent_id"


def as_rows(found: Iterable[Sequence[Any]]) -> list[WorkflowRow]:
    rows = []
    for values in found:
        named = dict(zip(FIELDS, values, strict=True))
        rows.append(WorkflowRow(**named | {name: read(named[name]) for name, read in _CONVERTED.items()}))
    return rows


_CONVERTED: dict[str, Callable[[Any], Any]] = {
    "created_at": sql.read_time,
    "updated_at": sql.read_time,
    "metadata": sql.read_json,
    "is_active": bool,
}
