"""Reads revisions of decisions, each with the state after it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.text.sentences import in_one_line, shortened
from memory.decisions.models.decision import DecisionStatus
from memory.decisions.rows.decisions import DecisionRow

# The fields with text besides the value; a revision stores them in `data`.
TEXTS = ("rationale", "alternatives", "tradeoffs", "metadata", "reason")

States = Mapping[int, tuple[DecisionRow, DecisionRow, str]]
"""By revision id: the decision before the change, the same row with its texts after it, what holds now."""
# The beginning of the value that holds now.
NOW_CHARACTERS = 60


def revisions_of(project_id: int, ids: Sequence[int]) -> sql.Reading[States]:
    """Read revisions; the texts after a change come from the next revision, or from the decision itself."""
    where, values = sql.by_ids("r", project_id, ids)
    statement = f"""
        SELECT r.id, d.id, d.key, r.value, r.value_type, r.version, r.status, r.agent_id, r.at, r.data,
            n.value, n.data, d.value, {", ".join(f"d.{name}" for name in TEXTS)}, d.status
        FROM memory_decisionrevision r JOIN memory_decision d ON d.id = r.decision_id
        LEFT JOIN memory_decisionrevision n ON n.id = (
            SELECT x.id FROM memory_decisionrevision x
            WHERE x.decision_id = r.decision_id AND x.id > r.id ORDER BY x.id LIMIT 1)
        WHERE {where}"""
    return sql.Reading(
        statement,
        values,
        14 + len(TEXTS),
        lambda rows: {revision: _states(*columns) for revision, *columns in rows},
    )


def revision_ids(project_id: int, decision_ids: Sequence[int]) -> list[int]:
    among, values = sql.among("decision_id", decision_ids)
    statement = f"SELECT id FROM memory_decisionrevision WHERE project_id = %s AND {among}"
    return [row_id for (row_id,) in sql.rows(statement, [project_id, *values])]


def _states(
    row_id: int, key: str, value: str, value_type: int, version: str, status: int, agent_id: int, *rest: Any
) -> tuple[DecisionRow, DecisionRow, str]:
    at, data, next_value, next_data, now_value, *now_texts, now_status = rest
    written_at = sql.read_time(at)
    was = DecisionRow(
        id=row_id,
        key=key,
        value=value,
        value_type=value_type,
        version=version,
        status=status,
        agent="",
        agent_id=agent_id,
        created_at=written_at,
        updated_at=written_at,
    )
    named = dict(zip(TEXTS, now_texts, strict=True))
    texts = {name: sql.read_json(named[name]) for name in ("alternatives", "tradeoffs", "metadata")}
    now = {"value": now_value, **named, **texts}
    if next_value is not None:
        now = {"value": next_value, **_kept(next_data)}
    return replace(was, **_kept(data)), replace(was, **now), _holding(now_value, now_status)


def _holding(value: str, status: int) -> str:
    if status != DecisionStatus.ACTIVE:
        return str(DecisionStatus(status).label)
    line = in_one_line(value)
    return shortened(line, NOW_CHARACTERS) if len(line) > NOW_CHARACTERS else line


def _kept(data: Any) -> dict[str, Any]:
    """Return the fields that a revision keeps in `data`; absent ones were empty."""
    fields = sql.read_json(data)
    return {name: fields[name] for name in (*TEXTS, "tags", "layer") if name in fields}
