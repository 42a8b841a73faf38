"""The row of a decision with the names of what it points to, and how it is read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from ctxhub.core import sql
from memory.models.decision import DecisionStatus, ValueType, typed_value


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """A decision with the names of what it points to. `id` is 0 before it is stored."""

    key: str
    value: str
    value_type: int
    version: str
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
    rationale: str = ""
    alternatives: Sequence[Any] = ()
    tradeoffs: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    superseded_by: str | None = None
    superseded_by_id: int | None = None

    @property
    def spoken_value(self) -> str | int | float:
        return typed_value(self.value, self.value_type)

    @property
    def spoken_status(self) -> str:
        return str(DecisionStatus(self.status).label)

    @property
    def number(self) -> float | None:
        return None if self.value_type == ValueType.TEXT else float(self.value)


# -- Reading ---------------------------------------------------------------------------------------

LISTED = (
    *("key", "value", "value_type", "version", "status", "agent", "agent_id", "created_at", "updated_at"),
    *("id", "layer", "tags", "scopes"),
)
WHOLE = (
    *LISTED,
    *("layer_id", "paths", "rationale", "alternatives", "tradeoffs", "metadata", "reason"),
    *("superseded_by", "superseded_by_id"),
)


def read_decisions(project_id: int, keys: Sequence[str]) -> dict[str, DecisionRow]:
    among, values = sql.among("d.key", keys)
    return {row.key: row for row in _read(f"d.project_id = %s AND {among}", [project_id, *values])}


def read_decisions_by_id(project_id: int, ids: Sequence[int]) -> list[DecisionRow]:
    return _read(*sql.by_ids("d", project_id, ids))


def _read(where: str, values: Sequence[Any]) -> list[DecisionRow]:
    select, joined = selected(WHOLE)
    statement = f"SELECT {select} FROM memory_decision d {joined} WHERE {where}"  # noqa: S608
    return as_rows(WHOLE, sql.rows(statement, values))


def used_versions(project_id: int, asked: Iterable[tuple[int, Any]]) -> set[tuple[int, Any]]:
    """Which of these (decision's id, version) a revision has."""
    ids, versions = zip(*asked, strict=True)
    of, among_ids = sql.among("decision_id", ids)
    called, among_versions = sql.among("version", versions)
    statement = f"""
        SELECT DISTINCT decision_id, version FROM memory_decisionrevision
        WHERE project_id = %s AND {of} AND {called}"""  # noqa: S608
    return set(sql.rows(statement, [project_id, *among_ids, *among_versions]))


@cache
def selected(fields: Sequence[str]) -> tuple[str, str]:
    """The SQL that reads these fields of a DecisionRow from `memory_decision d`: columns and joins."""
    columns = [_EXPRESSIONS[name]() if name in _EXPRESSIONS else f"d.{name}" for name in fields]
    return ", ".join(columns), " ".join(join for name, join in _JOINS.items() if name in fields)


def as_rows(fields: Sequence[str], found: Iterable[Sequence[Any]]) -> list[DecisionRow]:
    converted = [(name, _CONVERTED[name]) for name in fields if name in _CONVERTED]
    rows = []
    for values in found:
        named = dict(zip(fields, values, strict=True))
        for name, read in converted:
            named[name] = read(named[name])
        rows.append(DecisionRow(**named))
    return rows


def _names_of(links: str, words: str, column: str) -> str:
    names = sql.json_list("w.name")
    return f"(SELECT {names} FROM {links} x JOIN {words} w ON w.id = x.{column} WHERE x.decision_id = d.id)"  # noqa: S608


def _words(value: Any) -> list[str]:
    return sorted(sql.read_json(value) or (), key=str.casefold)


_EXPRESSIONS: dict[str, Callable[[], str]] = {
    "agent": lambda: "coalesce(a.name, 'system')",
    "layer": lambda: "l.name",
    "superseded_by": lambda: "n.key",
    "tags": lambda: _names_of("memory_decisiontag", "core_tag", "tag_id"),
    "scopes": lambda: _names_of("memory_decisionscope", "core_scope", "scope_id"),
}
_JOINS = {
    "agent": "LEFT JOIN core_agent a ON a.id = d.agent_id",
    "layer": "LEFT JOIN core_layer l ON l.id = d.layer_id",
    "superseded_by": "LEFT JOIN memory_decision n ON n.id = d.superseded_by_id",
}
_CONVERTED: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("created_at", "updated_at"), sql.read_time),
    **dict.fromkeys(("tags", "scopes"), _words),
    **dict.fromkeys(("paths", "alternatives", "tradeoffs", "metadata"), sql.read_json),
}


def superseding_keys(decision_id: int) -> set[str]:
    """The key of this decision and of all that supersede it, one after the other."""
    statement = """
        WITH RECURSIVE chain(id, key, next) AS (
            SELECT id, key, superseded_by_id FROM memory_decision WHERE id = %s
            UNION
            SELECT d.id, d.key, d.superseded_by_id FROM memory_decision d JOIN chain ON d.id = chain.next)
        SELECT key FROM chain"""
    return {key for (key,) in sql.rows(statement, [decision_id])}


def rest_of(row: DecisionRow) -> dict[str, Any]:
    """What a revision keeps beside value, version and status, by the contract's names, if not empty."""
    rest: dict[str, Any] = {
        "layer": row.layer,
        "tags": list(row.tags),
        "scopes": list(row.scopes),
        "paths": list(row.paths),
        "rationale": row.rationale,
        "alternatives": list(row.alternatives),
        "tradeoffs": dict(row.tradeoffs),
        "metadata": dict(row.metadata),
        "reason": row.reason,
        "superseded_by": row.superseded_by,
    }
    return {name: value for name, value in rest.items() if value}
