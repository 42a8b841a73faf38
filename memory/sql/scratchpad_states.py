"""The states a scratchpad was in: kept as lengths as long as it only grows, whole where it was changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxhub.core import sql
from memory.models import PadChange
from memory.sql.scratchpad_rows import PadRow

# The newest states whose text lies there whole, and the newest states at all.
WHOLE_KEPT = 50
KEPT = 1_000
# Of appends so many at a time go.
DROPPED_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class State:
    """What a pad was, or is; lists have no content."""

    revision: int
    change: int
    length: int
    agent: str
    at: datetime
    content: str = ""

    @property
    def spoken_change(self) -> str:
        return str(PadChange(self.change).label)


def insert_state(project_id: int, row: PadRow, change: PadChange, agent_id: int | None) -> None:
    """Note what the pad is now; what makes room for it is done by `keep_content` and `drop_old_states`."""
    columns = ("project_id", "scratchpad_id", "number", "change", "length", "agent_id", "at")
    moment = sql.stored_time(row.updated_at)
    record = (project_id, row.id, row.revision, change.value, row.length, agent_id, moment)
    sql.insert("memory_scratchpadrevision", columns, [record])
    if row.revision % DROPPED_AT_ONCE == 0:
        _drop_until(row.id, row.revision - KEPT + DROPPED_AT_ONCE)


def keep_content(row_id: int) -> None:
    """Before a pad is changed other than by growing: the text goes to the state that it is now.

    A pad that was written without states gets this one.
    """
    sql.execute(
        """
        INSERT INTO memory_scratchpadrevision
            (project_id, scratchpad_id, number, change, length, agent_id, at, content)
        SELECT project_id, id, revision, %s, length, agent_id, updated_at, content
        FROM memory_scratchpad WHERE id = %s
        ON CONFLICT (scratchpad_id, number) DO UPDATE SET content = excluded.content""",
        [PadChange.CREATED.value, row_id],
    )
    beyond = sql.rows(
        """
        SELECT number FROM memory_scratchpadrevision WHERE scratchpad_id = %s AND content IS NOT NULL
        ORDER BY number DESC LIMIT 1 OFFSET %s""",
        [row_id, WHOLE_KEPT],
    )
    for (number,) in beyond:
        _drop_until(row_id, number)


def list_states(project_id: int, row_id: int, limit: int, before: int) -> list[State]:
    """One page, newest first, of those before a number."""
    found = sql.rows(
        f"""
        SELECT {_FIELDS} FROM memory_scratchpadrevision r LEFT JOIN core_agent a ON a.id = r.agent_id
        WHERE r.scratchpad_id = %s AND r.project_id = %s AND r.number < %s
        ORDER BY r.number DESC LIMIT %s""",  # noqa: S608
        [row_id, project_id, before, limit],
    )
    return [_state(values) for values in found]


def read_state(project_id: int, row_id: int, number: int) -> State | None:
    """A state with its text: the beginning of the next text that lies there whole."""
    found = sql.rows(
        f"""
        SELECT {_FIELDS}, substr(coalesce((
            SELECT n.content FROM memory_scratchpadrevision n
            WHERE n.scratchpad_id = r.scratchpad_id AND n.number >= r.number AND n.content IS NOT NULL
            ORDER BY n.number LIMIT 1), p.content), 1, r.length)
        FROM memory_scratchpadrevision r JOIN memory_scratchpad p ON p.id = r.scratchpad_id
        LEFT JOIN core_agent a ON a.id = r.agent_id
        WHERE r.scratchpad_id = %s AND r.project_id = %s AND r.number = %s""",  # noqa: S608
        [row_id, project_id, number],
    )
    return _state(found[0]) if found else None


_FIELDS = "r.number, r.change, r.length, coalesce(a.name, 'system'), r.at"


def _state(values: Sequence[Any]) -> State:
    revision, change, length, agent, at, *content = values
    return State(revision, change, length, agent, sql.read_time(at), *content)


def _drop_until(row_id: int, number: int) -> None:
    sql.execute(
        "DELETE FROM memory_scratchpadrevision WHERE scratchpad_id = %s AND number <= %s", [row_id, number]
    )
