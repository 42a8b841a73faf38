"""SQL of the objects in force: those with a scope, the newest, the most urgent."""

from collections.abc import Sequence
from datetime import datetime

from ctxhub.core.kit import sql
from memory.constraints.models import ConstraintStatus
from memory.decisions.models import DecisionStatus

MOST = 500
# By kind: table, link table, its column, the status in force.
_TABLES = {
    "decision": ("memory_decision", "memory_decisionscope", "decision_id", DecisionStatus.ACTIVE.value),
    "constraint": (
        *("memory_constraint", "memory_constraintscope", "constraint_id", ConstraintStatus.ACTIVE.value),
    ),
}


def with_scopes(project_id: int, kind: str, folded: Sequence[str]) -> list[tuple[int, str]]:
    """Id and scope of the objects in force with one of these scopes, at most 500."""
    table, links, owner, status = _TABLES[kind]
    among, values = sql.among("s.folded", folded)
    return sql.rows(
        f"""
        SELECT l.{owner}, s.name
        FROM core_scope s CROSS JOIN {links} l CROSS JOIN {table} d
        WHERE s.project_id = %s AND {among} AND l.scope_id = s.id AND d.id = l.{owner} AND d.status = %s
        ORDER BY l.{owner} DESC LIMIT %s""",
        [project_id, *values, status, MOST],
    )


def sorting_of(project_id: int, kind: str, ids: Sequence[int]) -> dict[int, tuple[int, str]]:
    """Priority (0 for decisions) and time of the last change, by id; those not in force are left out."""
    table, _, _, status = _TABLES[kind]
    priority = "d.priority" if kind == "constraint" else "0"
    where, values = sql.by_ids("d", project_id, ids)
    found = sql.rows(
        f"SELECT d.id, {priority}, d.updated_at FROM {table} d WHERE {where} AND d.status = %s",
        [*values, status],
    )
    return {object_id: (rank, str(updated_at)) for object_id, rank, updated_at in found}


def newest_decisions(project_id: int, since: datetime, limit: int) -> list[int]:
    """The ids of the active decisions that changed at `since` or later, newest first."""
    return _ids(
        "SELECT id FROM memory_decision WHERE project_id = %s AND status = %s AND updated_at >= %s"
        " ORDER BY updated_at DESC, id DESC LIMIT %s",
        [project_id, DecisionStatus.ACTIVE.value, sql.stored_time(since), limit],
    )


def newest_memories(project_id: int, since: datetime, limit: int) -> list[int]:
    """The ids of the memories that changed at `since` or later, newest first."""
    return _ids(
        "SELECT id FROM memory_memory WHERE project_id = %s AND updated_at >= %s"
        " ORDER BY updated_at DESC, id DESC LIMIT %s",
        [project_id, sql.stored_time(since), limit],
    )


def urgent_constraints(project_id: int, limit: int) -> dict[int, int]:
    """The priorities of the active constraints by id, the most urgent first, then the newest."""
    found = sql.rows(
        "SELECT id, priority FROM memory_constraint WHERE project_id = %s AND status = %s"
        " ORDER BY rank, created_at DESC, id DESC LIMIT %s",
        [project_id, ConstraintStatus.ACTIVE.value, limit],
    )
    return dict(found)


def _ids(statement: str, values: Sequence[object]) -> list[int]:
    return [object_id for (object_id,) in sql.rows(statement, values)]
