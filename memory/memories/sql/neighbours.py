"""Selects the neighbours of memories that are turns of a conversation."""

from collections.abc import Sequence

from ctxhub.core.kit import sql
from ctxhub.core.kit.sql import Selected
from memory.memories.models.memory import MemoryType

PLACES = (1, 2, -1, -2)


def turns_of(project_id: int, ids: Sequence[int]) -> Selected:
    """The conversation turns among these memories, with two turns on either side of each, as `Noun.turns`."""
    which, values = sql.by_ids("f", project_id, ids)
    return " UNION ALL ".join(_turns(place, which) for place in PLACES), values * len(PLACES)


def _turns(place: int, which: str) -> str:
    """The turn at a place before or after each. Uses the index of the context."""
    sign, direction = (">", "") if place > 0 else ("<", "DESC")
    return f"""
        SELECT f.id, {sql.ending("f.content")} AS ending, {place} AS place, (
            SELECT n.id FROM memory_memory n
            WHERE n.context_id = f.context_id AND n.type = f.type
                AND (n.updated_at, n.id) {sign} (f.updated_at, f.id)
            ORDER BY n.updated_at {direction}, n.id {direction} LIMIT 1 OFFSET {abs(place) - 1}) AS other
        FROM memory_memory f WHERE {which} AND f.type = {MemoryType.CONVERSATION.value}"""
