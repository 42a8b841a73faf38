"""The importance of a file for an agent's context: 0 to 100, the sum of parts that are answered with it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from tracking.models.resource import AccessKind, ResourceType

MOST = 100
# The points of the strongest access so far.
ACCESS_POINTS = {
    AccessKind.VIEWED: 2,
    AccessKind.REFERENCED: 5,
    AccessKind.EXECUTED: 8,
    AccessKind.EDITED: 15,
}
TYPE_POINTS = {
    ResourceType.CODE: 5,
    ResourceType.DOCUMENTATION: 3,
    ResourceType.DATA: 3,
    ResourceType.RESEARCH: 3,
    ResourceType.GENERATED: 1,
}


@dataclass(frozen=True, slots=True)
class ImportanceFacts:
    """What is known of a file. `last_accessed`, `access_count` and `best_access` are the project's.

    `is_modified`: it was edited in the session. `incoming_strength`: the sum of the strengths with which
    other files depend on it. `mark`: the importance that a user gave it. `query_score`: 0 to 1.
    """

    last_accessed: datetime | None
    access_count: int
    best_access: int | None
    is_modified: bool
    incoming_strength: int
    type: int
    mark: int | None
    query_score: float = 0.0


@dataclass(frozen=True, slots=True)
class Importance:
    total: int
    parts: Mapping[str, float]


def importance_of(facts: ImportanceFacts, now: datetime) -> Importance:
    """A user's mark is the whole importance. Otherwise the parts are summed and rounded half up."""
    if facts.mark is not None:
        return Importance(facts.mark, {"mark": float(facts.mark)})
    parts = _parts(facts, now)
    return Importance(min(MOST, math.floor(sum(parts.values()) + 0.5)), parts)


def _parts(facts: ImportanceFacts, now: datetime) -> dict[str, float]:
    return {
        "recency": _recency(facts.last_accessed, now),
        "frequency": 20 * min(1.0, math.log1p(facts.access_count) / math.log(101)),
        "access": float(ACCESS_POINTS[AccessKind(facts.best_access)]) if facts.best_access else 0.0,
        "modified": 10.0 if facts.is_modified else 0.0,
        "dependencies": 10 * min(1.0, facts.incoming_strength / 10),
        "type": float(TYPE_POINTS[ResourceType(facts.type)]),
        "query": 10 * facts.query_score,
    }


def _recency(last_accessed: datetime | None, now: datetime) -> float:
    if last_accessed is None:
        return 0.0
    hours = max(0.0, (now - last_accessed).total_seconds() / 3600)
    return 30 * math.exp(-hours / 24)
