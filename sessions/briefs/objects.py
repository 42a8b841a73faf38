"""SQL of the objects in force: those with a scope, the newest, the most urgent."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from ctxhub.core.kit import sql
from ctxhub.core.links import ObjectKey
from ctxhub.core.search.documents import Document
from ctxhub.core.text.glob_parts import WILDCARDS
from memory.constraints.models import ConstraintStatus
from memory.decisions.models import DecisionStatus

LONGEST = 4
"""The most names that a scope with slashes has."""


def scopes_of(paths: Iterable[str]) -> list[str]:
    """The case-folded scopes of paths and globs: `src/api/login.py` has src, api, login, src/api, api/login.

    A path without an extension may be a folder itself: `src/api` has the scope src/api.
    """
    found: dict[str, None] = {}
    for path in paths:
        *folders, name = path.casefold().split("/")
        stem = name.partition(".")[0] or name
        parts = [*folders, stem] if stem else folders
        for length in range(1, LONGEST + 1):
            for start in range(len(parts) - length + 1):
                found["/".join(parts[start : start + length])] = None
    return [scope for scope in found if scope and WILDCARDS.isdisjoint(scope)]


# The objects that match best, whose topics count.
BEST = 4


def topics_of(kind: str, document: Document) -> frozenset[str]:
    """The case-folded tags and scopes of an object, and the folders of its paths and of its key."""
    named = [*document.tags, *(name for names in document.unshown for name in names.split(", "))]
    parts = [part for name in named for part in name.split("/") if part and "*" not in part]
    folders = document.title.split("/")[:-1] if kind == "decision" else []
    return frozenset(part.casefold() for part in [*parts, *folders])


def shared_topics(
    topics: Mapping[ObjectKey, frozenset[str]], matches: Mapping[ObjectKey, float]
) -> dict[ObjectKey, float]:
    """How much of its topics each object shares with the best matches, 0 to 1; rare topics weigh more.

    Of equal matches the first ones count. The exact sums do not depend on the order of topics in a set.
    """
    count = Counter(topic for own in topics.values() for topic in own)
    worth = {topic: math.log(1 + len(topics) / count[topic]) for topic in count}
    best = sorted(matches, key=lambda key: -matches[key])[:BEST]
    weights: dict[str, float] = {}
    for key in best:
        for topic in topics[key]:
            weights[topic] = weights.get(topic, 0.0) + matches[key] * worth[topic]
    shared = {key: math.fsum(weights.get(topic, 0.0) for topic in own) for key, own in topics.items()}
    for key in best:
        shared[key] -= math.fsum(matches[key] * worth[topic] for topic in topics[key])
    most = max(shared.values(), default=0.0)
    return {key: max(value, 0.0) / most for key, value in shared.items()} if most > 0 else {}


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
