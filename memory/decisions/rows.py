"""Decision rows, their table, and queries by key, version and successor."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import Derived, Table
from ctxhub.core.paths.rows import PathRow, staleness
from memory.decisions.models import Decision, DecisionStatus, ValueType, typed_value, version_order
from memory.suggestions.keys import whole_signature


@frozen(kw_only=True)
class DecisionRow(PathRow):
    key: str
    value: str
    value_type: int
    version: str
    status: int
    layer: str | None = None
    layer_id: int | None = None
    tags: Sequence[str] = ()
    scopes: Sequence[str] = ()
    rationale: str = ""
    alternatives: Sequence[Any] = ()
    tradeoffs: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    superseded_by: str | None = None
    superseded_by_id: int | None = None

    @property
    def typed_value(self) -> str | int | float:
        return typed_value(self.value, self.value_type)

    @property
    def status_label(self) -> str:
        return str(DecisionStatus(self.status).label)

    @property
    def number(self) -> float | None:
        return None if self.value_type == ValueType.TEXT else float(self.value)

    @property
    def revision_data(self) -> dict[str, Any]:
        """The non-empty fields that a revision keeps in `data`, by their names in tools and REST."""
        fields: dict[str, Any] = {
            "layer": self.layer,
            "tags": list(self.tags),
            "scopes": list(self.scopes),
            "paths": list(self.paths),
            "rationale": self.rationale,
            "alternatives": list(self.alternatives),
            "tradeoffs": dict(self.tradeoffs),
            "metadata": dict(self.metadata),
            "reason": self.reason,
            "superseded_by": self.superseded_by,
        }
        return {name: value for name, value in fields.items() if value}


DECISIONS = Table(
    Decision,
    DecisionRow,
    derived={
        "number": Derived(of=["value", "value_type"], value=lambda row: row.number),
        "version_order": Derived(of=["version"], value=lambda row: version_order(row.version)),
        "signature": Derived(of=["key"], value=lambda row: whole_signature(row.key)),
    },
    computed=staleness("decision"),
    shown={"superseded_by": "key"},
)

LISTED = (
    *("key", "value", "value_type", "version", "status", "agent", "agent_id", "created_at", "updated_at"),
    *("id", "layer", "tags", "scopes", "stale"),
)


def read_decisions(project_id: int, keys: Sequence[str]) -> dict[str, DecisionRow]:
    """Read decisions by key."""
    return {row.key: row for row in DECISIONS.find(project_id, sql.among("d.key", keys))}


def used_versions(project_id: int, pairs: Iterable[tuple[int, Any]]) -> set[tuple[int, Any]]:
    """Return those of the pairs (decision id, version) that a revision has."""
    ids, versions = zip(*pairs, strict=True)
    id_condition, id_values = sql.among("decision_id", ids)
    version_condition, version_values = sql.among("version", versions)
    statement = f"""
        SELECT DISTINCT decision_id, version FROM memory_decisionrevision
        WHERE project_id = %s AND {id_condition} AND {version_condition}"""
    return set(sql.rows(statement, [project_id, *id_values, *version_values]))


def superseding_keys(decision_id: int) -> set[str]:
    """Return the key of this decision and of its whole chain of successors."""
    statement = """
        WITH RECURSIVE chain(id, key, next) AS (
            SELECT id, key, superseded_by_id FROM memory_decision WHERE id = %s
            UNION
            SELECT d.id, d.key, d.superseded_by_id FROM memory_decision d JOIN chain ON d.id = chain.next)
        SELECT key FROM chain"""
    return {key for (key,) in sql.rows(statement, [decision_id])}
