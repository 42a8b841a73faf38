"""The importance of a file, 0 to 100: how much it matters for the work of a session."""

import math
from collections.abc import Mapping
from datetime import datetime

from ctxhub.core.kit.frozen import frozen
from tracking.files.models import AccessKind, ResourceType

HIGHEST = 100
RECENCY, HOURS = 30, 24
FREQUENCY, MANY_ACCESSES = 20, 100
ACCESS = {AccessKind.VIEWED: 2, AccessKind.REFERENCED: 5, AccessKind.EXECUTED: 8, AccessKind.EDITED: 15}
MODIFIED = 10
DEPENDENCIES, MUCH_STRENGTH = 10, 10
TYPE = {
    ResourceType.CODE: 5,
    ResourceType.DOCUMENTATION: 3,
    ResourceType.DATA: 3,
    ResourceType.RESEARCH: 3,
    ResourceType.GENERATED: 1,
}
QUERY = 10


@frozen
class ImportanceFacts:
    """What is known of a file. `is_modified`: in this session; `mark`: a user's, which overrides the rest.

    `best_access`: an AccessKind; `type`: a ResourceType; `incoming_strength`: of all files that need it;
    `query_score`: the score of a search, 0 to 1.
    """

    last_accessed: datetime | None
    access_count: int
    best_access: int | None
    is_modified: bool
    incoming_strength: int
    type: int
    mark: int | None
    query_score: float = 0.0


@frozen
class Importance:
    """`parts`: what each fact adds, without those that add nothing."""

    total: int
    parts: Mapping[str, float]


def importance_of(facts: ImportanceFacts, now: datetime) -> Importance:
    """The sum of the parts, rounded half up; the user's mark, if there is one."""
    if facts.mark is not None:
        return Importance(_whole(facts.mark), {"mark": float(facts.mark)})
    parts = {
        "recency": _recency(facts.last_accessed, now),
        "frequency": FREQUENCY * min(1.0, math.log1p(facts.access_count) / math.log1p(MANY_ACCESSES)),
        "access": float(ACCESS[AccessKind(facts.best_access)]) if facts.best_access else 0.0,
        "modified": float(MODIFIED) if facts.is_modified else 0.0,
        "dependencies": DEPENDENCIES * min(1.0, facts.incoming_strength / MUCH_STRENGTH),
        "type": float(TYPE[ResourceType(facts.type)]),
        "query": QUERY * min(1.0, max(0.0, facts.query_score)),
    }
    return Importance(_whole(sum(parts.values())), {name: part for name, part in parts.items() if part})


def _recency(last_accessed: datetime | None, now: datetime) -> float:
    if last_accessed is None:
        return 0.0
    hours = max(0.0, (now - last_accessed).total_seconds() / 3600)
    return RECENCY * math.exp(-hours / HOURS)


def _whole(total: float) -> int:
    return max(0, min(HIGHEST, math.floor(total + 0.5)))
