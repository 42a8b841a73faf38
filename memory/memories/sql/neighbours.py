"""Reads the turns before and after a turn of a conversation, in its context."""

from collections.abc import Mapping, Sequence

from ctxhub.core.kit import sql
from ctxhub.core.search.neighbours import Turn, shares_of
from memory.memories.models.memory import MemoryType


def read_turns(project_id: int, ids: Sequence[int]) -> Mapping[int, Mapping[int, float]]:
    """The conversation turns among these memories, with the shares of two turns on either side of each."""
    which, values = sql.by_ids("f", project_id, ids)
    neighbours = [_turn(">", "", n) for n in (0, 1)] + [_turn("<", "DESC", n) for n in (0, 1)]
    rows = sql.rows(
        f"""
        SELECT f.id, {sql.ending("f.content")}, {", ".join(neighbours)}
        FROM memory_memory f WHERE {which} AND f.type = {MemoryType.CONVERSATION.value}""",
        values,
    )
    return {
        row: shares_of(Turn(ending, [first, second], [last, one_before]))
        for row, ending, first, second, last, one_before in rows
    }


def _turn(sign: str, direction: str, offset: int) -> str:
    """A subquery for the id of the turn at an offset in one direction. Uses the index of the context."""
    return f"""(
        SELECT n.id FROM memory_memory n
        WHERE n.context_id = f.context_id AND n.type = f.type
            AND (n.updated_at, n.id) {sign} (f.updated_at, f.id)
        ORDER BY n.updated_at {direction}, n.id {direction} LIMIT 1 OFFSET {offset})"""
