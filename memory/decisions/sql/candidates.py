"""Reads candidates for similar decisions: a bounded number, each found through an index."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.columns import read_words
from ctxhub.core.kit.frozen import frozen
from memory.decisions.models.decision import DecisionStatus
from memory.decisions.rows.decisions import DECISIONS

Branch = tuple[str, Sequence[Any]]
"""A SELECT that returns the `id`s of some decisions, and its parameters."""

NOT_DEPRECATED = f"AND d.status <> {DecisionStatus.DEPRECATED.value}"


@frozen
class CandidateRow:
    id: int
    key: str
    updated_at: datetime
    layer: str | None
    tags: Sequence[str]


def neighbours(project_id: int, key: str, limit: int) -> list[Branch]:
    """Return branches for the keys just before and after this one; keys with one path sort together."""
    statement = "SELECT id FROM memory_decision WHERE project_id = %s AND key {} %s ORDER BY key {} LIMIT %s"
    return [
        (statement.format(*direction), [project_id, key, limit])
        for direction in (("<", "DESC"), (">", "ASC"))
    ]


def newest_with_tag(tag_id: int, limit: int) -> Branch:
    return (
        f"SELECT decision_id AS id FROM {DECISIONS.links['tags'].table} WHERE tag_id = %s"
        " ORDER BY updated_at DESC, decision_id DESC LIMIT %s",
        [tag_id, limit],
    )


def read_keys(
    project_id: int, branches: Sequence[Branch], *, include_deprecated: bool = False
) -> dict[str, Any]:
    """Read the keys of the candidates, each with its update time as it is stored: see `sql.read_time`."""
    condition = "" if include_deprecated else NOT_DEPRECATED
    return dict(_read(project_id, branches, "d.key, d.updated_at", "", condition))


def read_candidates(project_id: int, branches: Sequence[Branch]) -> list[CandidateRow]:
    """Read the candidates that are not deprecated, with layer and tags."""
    tags = f"""
        (SELECT {sql.json_list("w.name")} FROM memory_decisiontag x JOIN core_tag w ON w.id = x.tag_id
        WHERE x.decision_id = d.id)"""
    columns = f"d.id, d.key, d.updated_at, l.name, {tags}"
    return [
        CandidateRow(row_id, key, sql.read_time(at), layer, read_words(words))
        for row_id, key, at, layer, words in _read(
            project_id, branches, columns, "LEFT JOIN core_layer l ON l.id = d.layer_id", NOT_DEPRECATED
        )
    ]


def _read(
    project_id: int, branches: Sequence[Branch], columns: str, join: str, condition: str
) -> list[tuple[Any, ...]]:
    found = " UNION ".join(f"SELECT id FROM ({statement}) arm" for statement, _ in branches)
    return sql.rows(
        f"""
        WITH found AS MATERIALIZED ({found})
        SELECT {columns} FROM found CROSS JOIN memory_decision d {join}
        WHERE d.id = found.id AND d.project_id = %s {condition}""",
        [*(value for _, values in branches for value in values), project_id],
    )
