"""The row of a scratchpad with what it needs of its workflow, and how it is read."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.db import connection

from ctxhub.core import sql
from ctxhub.core.secrets import LONGEST


@dataclass(frozen=True, slots=True)
class PadRow:
    """A scratchpad. `id` is 0 before it is stored; rows that are only LISTED have no content.

    `length` counts characters, `size` bytes; `is_active`: whether its workflow is open. `ending`: as much of
    the content's end as a credential may have begun in, for those who add to it without reading it.
    """

    name: str
    workflow_id: int
    length: int
    size: int
    revision: int
    agent: str
    agent_id: int | None
    created_at: datetime
    updated_at: datetime
    id: int = 0
    is_active: bool = True
    content: str = ""
    ending: str = ""


LISTED = (
    *("id", "name", "workflow_id", "length", "size", "revision", "agent", "agent_id"),
    *("created_at", "updated_at", "is_active"),
)
WHOLE = (*LISTED, "content")
GROWING = (*LISTED, "ending")


def read_scratchpads(project_id: int, ids: Sequence[int], fields: Sequence[str] = WHOLE) -> dict[int, PadRow]:
    """By their ids."""
    if not ids:
        return {}
    return {row.id: row for row in _read(fields, *sql.by_ids("d", project_id, ids))}


def list_scratchpads(project_id: int, workflow_id: int, limit: int, after: int) -> list[PadRow]:
    """One page of a workflow's pads in the order of their creation, behind an id; without content."""
    where = "d.workflow_id = %s AND d.project_id = %s AND d.id > %s ORDER BY d.id LIMIT %s"
    return _read(LISTED, where, [workflow_id, project_id, after, limit])


def count_scratchpads(project_id: int, workflow_id: int) -> int:
    [(count,)] = sql.rows(
        "SELECT count(*) FROM memory_scratchpad WHERE workflow_id = %s AND project_id = %s",
        [workflow_id, project_id],
    )
    return int(count)


def read_content_from(row_id: int, start: int) -> str:
    """A pad's text from a character on."""
    [(text,)] = sql.rows(
        "SELECT substr(content, %s) FROM memory_scratchpad WHERE id = %s", [start + 1, row_id]
    )
    return str(text)


@cache
def selected(fields: Sequence[str]) -> str:
    """The SQL that reads these fields of a PadRow from `memory_scratchpad d`."""
    # Bytes, since SQLite walks through a text to find the end of its characters.
    is_sqlite = connection.vendor == "sqlite"
    ending = f"substr(CAST(d.content AS BLOB), -{LONGEST})" if is_sqlite else f"right(d.content, {LONGEST})"
    expressions = {"agent": "coalesce(a.name, 'system')", "is_active": "w.is_active", "ending": ending}
    return ", ".join(expressions.get(name, f"d.{name}") for name in fields)


JOINS = "JOIN memory_workflow w ON w.id = d.workflow_id LEFT JOIN core_agent a ON a.id = d.agent_id"


def as_rows(fields: Sequence[str], found: Iterable[Sequence[Any]]) -> list[PadRow]:
    rows = []
    for values in found:
        named = dict(zip(fields, values, strict=True))
        converted = {name: read(named[name]) for name, read in _CONVERTED.items() if name in named}
        rows.append(PadRow(**named | converted))
    return rows


def _read(fields: Sequence[str], where: str, values: Sequence[Any]) -> list[PadRow]:
    statement = f"SELECT {selected(fields)} FROM memory_scratchpad d {JOINS} WHERE {where}"  # noqa: S608
    return as_rows(fields, sql.rows(statement, values))


def _read_ending(value: str | bytes | None) -> str:
    """It may begin within a character. SQLite has nothing of an empty text."""
    return value.decode(errors="ignore") if isinstance(value, bytes) else value or ""


_CONVERTED: dict[str, Callable[[Any], Any]] = {
    "created_at": sql.read_time,
    "updated_at": sql.read_time,
    "is_active": bool,
    "ending": _read_ending,
}
