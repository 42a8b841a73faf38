"""What was said before a turn of a conversation and after it, in its context."""

from collections.abc import Mapping, Sequence

from ctxhub.core.kit import sql
from ctxhub.core.search.turns import Turn, shares_of
from memory.memories.models.memory import MemoryType


def read_turns(project_id: int, ids: Sequence[int]) -> Mapping[int, Mapping[int, float]]:
    """Of these memories the turns of conversations, each with the two on either side and their shares."""
    which, values = sql.by_ids("f", project_id, ids)
    places = [_turn(">", "", place) for place in (0, 1)] + [_turn("<", "DESC", place) for place in (0, 1)]
    rows = sql.rows(
        f"""
        SELECT f.id, {sql.ending("f.content")}, {", ".join(places)}
        FROM memory_memory f WHERE {which} AND f.type = {MemoryType.CONVERSATION.value}""",  # noqa: S608
        values,
    )
    return {
        row: shares_of(Turn(ending, [first, second], [last, one_before]))
        for row, ending, first, second, last, one_before in rows
    }


def _turn(sign: str, direction: str, place: int) -> str:
    """The id of the turn so many places on; it walks the index of the context."""
    return f"""(
        SELECT n.id FROM memory_memory n
        WHERE n.context_id = f.context_id AND n.type = f.type
            AND (n.updated_at, n.id) {sign} (f.updated_at, f.id)
        ORDER BY n.updated_at {direction}, n.id {direction} LIMIT 1 OFFSET {place})"""  # noqa: S608
