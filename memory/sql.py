"""SQL of the memory app's hot paths: decisions read, listed and written. The same text on both engines."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from ctxhub.core import sql
from memory.models.decision import DecisionStatus, ValueType, typed_value

Condition = tuple[str, Sequence[Any]]


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


@cache
def _columns() -> dict[str, str]:
    """Each field of a DecisionRow, and the SQL that reads it."""
    own = (
        "key",
        "value",
        "value_type",
        "version",
        "status",
        "agent_id",
        "created_at",
        "updated_at",
        "id",
        "layer_id",
    )
    more = ("paths", "rationale", "alternatives", "tradeoffs", "metadata", "reason", "superseded_by_id")
    return {
        **{name: f"d.{name}" for name in (*own, *more)},
        "agent": "coalesce(a.name, 'system')",
        "layer": "l.name",
        "superseded_by": "n.key",
        "tags": _names_of("memory_decisiontag", "core_tag", "tag_id"),
        "scopes": _names_of("memory_decisionscope", "core_scope", "scope_id"),
    }


def _names_of(links: str, words: str, column: str) -> str:
    names = sql.json_list("w.name")
    return f"(SELECT {names} FROM {links} x JOIN {words} w ON w.id = x.{column} WHERE x.decision_id = d.id)"  # noqa: S608


def _words(value: Any) -> list[str]:
    return sorted(sql.read_json(value) or (), key=str.casefold)


_CONVERTED = {
    **dict.fromkeys(("created_at", "updated_at"), sql.read_time),
    **dict.fromkeys(("tags", "scopes"), _words),
    **dict.fromkeys(("paths", "alternatives", "tradeoffs", "metadata"), sql.read_json),
}

_JOINED = """
    LEFT JOIN core_agent a ON a.id = d.agent_id
    LEFT JOIN core_layer l ON l.id = d.layer_id
    LEFT JOIN memory_decision n ON n.id = d.superseded_by_id"""


def _select() -> str:
    return f"SELECT {', '.join(_columns().values())} FROM"


def _row(values: Sequence[Any]) -> DecisionRow:
    named = dict(zip(_columns(), values, strict=True))
    for name, read in _CONVERTED.items():
        named[name] = read(named[name])
    return DecisionRow(**named)


# -- Reading ---------------------------------------------------------------------------------------


def read_decisions(project_id: int, keys: Sequence[str]) -> dict[str, DecisionRow]:
    found = sql.rows(
        f"{_select()} memory_decision d {_JOINED} WHERE d.project_id = %s AND d.key IN ({sql.marks(keys)})",
        [project_id, *keys],
    )
    return {row.key: row for row in map(_row, found)}


@dataclass(frozen=True, slots=True)
class Walk:
    """How a list is found: `conditions` on `d`, and the links (tags or scopes) that lead there fastest.

    Without links the decisions themselves are walked in the order of `sort`; with them each link's own index
    is, and only as far as the page needs.
    """

    conditions: Sequence[Condition]
    sort: str = "updated_at"
    descending: bool = True
    links: "Links | None" = None
    link_ids: Sequence[int] = ()

    @property
    def where(self) -> str:
        return " AND ".join(text for text, _ in self.conditions)

    @property
    def values(self) -> list[Any]:
        return [value for _, values in self.conditions for value in values]


def list_decisions(walk: Walk, limit: int, after: tuple[Any, int] | None) -> list[DecisionRow]:
    """One page in the walk's order, behind `after` (sort value, id)."""
    found, values = _page(walk, limit, after)
    direction = "DESC" if walk.descending else "ASC"
    statement = f"""
        {_select()} ({found}) f JOIN memory_decision d ON d.id = f.id {_JOINED}
        ORDER BY d.{walk.sort} {direction}, d.id {direction} LIMIT %s"""
    return [_row(row) for row in sql.rows(statement, [*values, limit])]


def count_decisions(walk: Walk, at_most: int) -> int:
    found, values = _page(walk, at_most, None, ordered=False)
    [(count,)] = sql.rows(f"SELECT count(*) FROM (SELECT id FROM ({found}) u LIMIT %s) c", [*values, at_most])  # noqa: S608
    return int(count)


def _page(
    walk: Walk, limit: int, after: tuple[Any, int] | None, *, ordered: bool = True
) -> tuple[str, list[Any]]:
    direction, beyond = ("DESC", "<") if walk.descending else ("ASC", ">")
    if not walk.links:
        place = f" AND (d.{walk.sort}, d.id) {beyond} (%s, %s)" if after else ""
        order = f" ORDER BY d.{walk.sort} {direction}, d.id {direction}" if ordered else ""
        statement = f"SELECT d.id FROM memory_decision d WHERE {walk.where}{place}{order} LIMIT %s"  # noqa: S608
        return statement, [*walk.values, *(after or ()), limit]
    place = f" AND (x.updated_at, x.decision_id) {beyond} (%s, %s)" if after else ""
    order = f" ORDER BY x.updated_at {direction}, x.decision_id {direction}" if ordered else ""
    # CROSS JOIN keeps SQLite walking the link's index; left to itself it reads every decision.
    arm = f"""
        SELECT id FROM (SELECT x.decision_id AS id FROM {walk.links.table} x CROSS JOIN memory_decision d
        WHERE x.{walk.links.column} = %s AND d.id = x.decision_id AND {walk.where}{place}{order}
        LIMIT %s) arm"""  # noqa: S608
    values = [[link, *walk.values, *(after or ()), limit] for link in walk.link_ids]
    return " UNION ".join([arm] * len(values)), [value for arm_values in values for value in arm_values]


def superseding_keys(decision_id: int) -> set[str]:
    """The key of this decision and of all that supersede it, one after the other."""
    statement = """
        WITH RECURSIVE chain(id, key, next) AS (
            SELECT id, key, superseded_by_id FROM memory_decision WHERE id = %s
            UNION
            SELECT d.id, d.key, d.superseded_by_id FROM memory_decision d JOIN chain ON d.id = chain.next)
        SELECT key FROM chain"""
    return {key for (key,) in sql.rows(statement, [decision_id])}


# -- Writing ---------------------------------------------------------------------------------------

_WRITTEN = (
    *("project_id", "key", "value", "value_type", "number", "version", "version_order", "status", "layer_id"),
    *(
        "agent_id",
        "paths",
        "rationale",
        "alternatives",
        "tradeoffs",
        "metadata",
        "reason",
        "superseded_by_id",
    ),
    *("created_at", "updated_at"),
)
_KEPT = ("project_id", "key", "created_at")


def upsert_decisions(project_id: int, decisions: Sequence[DecisionRow]) -> dict[str, int]:
    """Write all rows at once; the ids by key. Tags and scopes are written by `write_links`."""
    changes = ", ".join(f"{column} = excluded.{column}" for column in _WRITTEN if column not in _KEPT)
    written = sql.insert(
        "memory_decision",
        _WRITTEN,
        [_values(project_id, row) for row in decisions],
        f"ON CONFLICT (project_id, key) DO UPDATE SET {changes} RETURNING key, id",
    )
    return dict(written)


def _values(project_id: int, row: DecisionRow) -> list[Any]:
    return [
        *(project_id, row.key, row.value, row.value_type, row.number),
        *(row.version, version_order(row.version), row.status, row.layer_id, row.agent_id),
        *(sql.stored_json(row.paths), row.rationale, sql.stored_json(row.alternatives)),
        *(sql.stored_json(row.tradeoffs), sql.stored_json(row.metadata), row.reason, row.superseded_by_id),
        *(sql.stored_time(row.created_at), sql.stored_time(row.updated_at)),
    ]


def version_order(version: str) -> str:
    """A text that sorts as the version does: 1.0.9 before 1.0.10."""
    parts: list[str] = []
    number = ""
    for character in f"{version.lower()} ":
        if character.isascii() and character.isdigit():
            number += character
            continue
        if number:
            parts.append(number.zfill(12))
            number = ""
        parts.append(character)
    return "".join(parts).strip()


@dataclass(frozen=True, slots=True)
class Links:
    """A table of words on decisions."""

    table: str
    column: str


TAG_LINKS = Links("memory_decisiontag", "tag_id")
SCOPE_LINKS = Links("memory_decisionscope", "scope_id")


def write_links(
    links: Links, project_id: int, wanted: Mapping[int, Iterable[int]], existed: Collection[int], at: datetime
) -> None:
    """Make each decision's words exactly the wanted ones; only those that existed can have had others."""
    if old := [decision for decision in wanted if decision in existed]:
        sql.execute(f"DELETE FROM {links.table} WHERE decision_id IN ({sql.marks(old)})", old)  # noqa: S608
    moment = sql.stored_time(at)
    if records := [
        (project_id, decision, word, moment) for decision, words in wanted.items() for word in words
    ]:
        sql.insert(links.table, ("project_id", "decision_id", links.column, "updated_at"), records)


def touch_links(links: Links, decision_ids: Sequence[int], at: datetime) -> None:
    """Keep the copy of `updated_at` on links that stay as they are."""
    if decision_ids:
        statement = (
            f"UPDATE {links.table} SET updated_at = %s WHERE decision_id IN ({sql.marks(decision_ids)})"  # noqa: S608
        )
        sql.execute(statement, [sql.stored_time(at), *decision_ids])


def insert_revisions(project_id: int, decisions: Iterable[DecisionRow]) -> None:
    """Keep what each decision was."""
    sql.insert(
        "memory_decisionrevision",
        (
            *(
                "project_id",
                "decision_id",
                "value",
                "value_type",
                "number",
                "version",
                "status",
                "agent_id",
                "at",
            ),
            "data",
        ),
        [
            (
                *(
                    project_id,
                    row.id,
                    row.value,
                    row.value_type,
                    row.number,
                    row.version,
                    row.status,
                    row.agent_id,
                ),
                sql.stored_time(row.updated_at),
                sql.stored_json(rest_of(row)),
            )
            for row in decisions
        ],
    )


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
