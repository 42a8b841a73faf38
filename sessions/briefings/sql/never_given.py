"""SQL of what nobody was given: decisions in force and memories that no answer opened."""

from datetime import datetime
from typing import NamedTuple

from ctxhub.core.kit import sql
from memory.decisions.models import DecisionStatus

_OBJECTS = {
    "decision": ("memory_decision", "d.key", f"AND d.status = {DecisionStatus.ACTIVE.value}"),
    "memory": ("memory_memory", "d.title", ""),
}


class NeverGiven(NamedTuple):
    """How many objects in `total`, and the oldest of them as (id, text)."""

    total: int
    oldest: list[tuple[int, str]]


def read_never_given(project_id: int, kind: str, before: datetime, limit: int) -> NeverGiven:
    """The objects of a kind from before a time that no recorded answer had."""
    table, text, condition = _OBJECTS[kind]
    never = f"""
        FROM {table} d WHERE d.project_id = %s AND d.created_at < %s {condition} AND NOT EXISTS (
            SELECT 1 FROM agent_sessions_briefingitem i
            WHERE i.project_id = %s AND i.kind = %s AND i.object_id = d.id)"""
    values = [project_id, sql.stored_time(before), project_id, kind]
    [(count,)] = sql.rows(f"SELECT count(*) {never}", values)
    oldest = sql.rows(f"SELECT d.id, {text} {never} ORDER BY d.created_at, d.id LIMIT %s", [*values, limit])
    return NeverGiven(int(count), oldest)
