"""Stores the revisions of a scratchpad: a length after an append, the content before any other change."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.ordering import NEWEST_FIRST, Way
from memory.scratchpads.models import PadChange
from memory.scratchpads.rows import PadRow

# Kept for each pad: the newest states with content, and the newest states in all.
WHOLE_KEPT = 50
KEPT = 1_000
# States are deleted in batches of this size.
DROPPED_AT_ONCE = 100
STATES_READ = 100


@frozen
class KeptText:
    """A row with the former text of a pad; `number` and `at` are the number and time of that state."""

    id: int
    number: int
    agent_id: int | None
    at: datetime


@frozen
class PadState:
    """A former or the current state of a pad; empty `content` in lists."""

    revision: int
    change: int
    length: int
    agent: str
    at: datetime
    content: str = ""

    @property
    def change_label(self) -> str:
        return str(PadChange(self.change).label)


def insert_states(
    project_id: int, agent_id: int | None, written: Sequence[tuple[PadRow, PadChange]]
) -> list[int]:
    """Insert the current states of pads; without `agent_id`, each pad's own agent is the author.

    Deletes the oldest states and returns the ids of those that had content.
    """
    if not written:
        return []
    columns = ("project_id", "scratchpad_id", "number", "change", "length", "agent_id", "at")
    records = [
        (
            *(project_id, row.id, row.revision, change.value, row.length, agent_id or row.agent_id),
            sql.stored_time(row.updated_at),
        )
        for row, change in written
    ]
    sql.insert("memory_scratchpadrevision", columns, records)
    full = [row for row, _ in written if row.revision % DROPPED_AT_ONCE == 0]
    return [dropped for row in full for dropped in _drop_until(row.id, row.revision - KEPT + DROPPED_AT_ONCE)]


def keep_content(row_id: int) -> tuple[KeptText, list[int]]:
    """Copy the content of a pad to its current state, before any change other than an append.

    Inserts that state if the pad has none. Also returns the ids of the rows deleted beyond WHOLE_KEPT.
    """
    [(kept, number, agent_id, at)] = sql.rows(
        """
        INSERT INTO memory_scratchpadrevision
            (project_id, scratchpad_id, number, change, length, agent_id, at, content)
        SELECT project_id, id, revision, %s, length, agent_id, updated_at, content
        FROM memory_scratchpad WHERE id = %s
        ON CONFLICT (scratchpad_id, number) DO UPDATE SET content = excluded.content
        RETURNING id, number, agent_id, at""",
        [PadChange.CREATED.value, row_id],
    )
    beyond = sql.rows(
        """
        SELECT number FROM memory_scratchpadrevision WHERE scratchpad_id = %s AND content IS NOT NULL
        ORDER BY number DESC LIMIT 1 OFFSET %s""",
        [row_id, WHOLE_KEPT],
    )
    dropped = [row for (last,) in beyond for row in _drop_until(row_id, last)]
    return KeptText(kept, number, agent_id, sql.read_time(at)), dropped


def list_states(
    project_id: int, row_id: int, limit: int, after: int | None, way: Way = NEWEST_FIRST
) -> list[PadState]:
    """A page of the states whose numbers follow `after`, newest first unless `way` says otherwise."""
    behind, values = way.behind("r.number", after)
    found = sql.rows(
        f"""
        SELECT {_FIELDS} FROM memory_scratchpadrevision r LEFT JOIN core_agent a ON a.id = r.agent_id
        WHERE r.scratchpad_id = %s AND r.project_id = %s {behind}
        ORDER BY {way.of("r.number")} LIMIT %s""",
        [row_id, project_id, *values, limit],
    )
    return [_state(values) for values in found]


def replaced_texts(
    project_id: int, ids: Sequence[int]
) -> sql.Reading[list[tuple[int, str, KeptText, str, str, int]]]:
    """For each row with content: pad id, pad name, the row, its content, the content that followed it, and
    the pad's revision now.
    """
    where, values = sql.by_ids("r", project_id, ids)
    statement = f"""
        SELECT p.id, p.name, r.id, r.number, r.agent_id, r.at, r.content, substr(coalesce((
                SELECT w.content FROM memory_scratchpadrevision w
                WHERE w.scratchpad_id = r.scratchpad_id AND w.number > r.number AND w.content IS NOT NULL
                ORDER BY w.number LIMIT 1), p.content), 1, (
                SELECT n.length FROM memory_scratchpadrevision n
                WHERE n.scratchpad_id = r.scratchpad_id AND n.number > r.number ORDER BY n.number LIMIT 1)),
            p.revision
        FROM memory_scratchpadrevision r JOIN memory_scratchpad p ON p.id = r.scratchpad_id
        WHERE {where} AND r.content IS NOT NULL"""
    return sql.Reading(
        statement,
        values,
        9,
        lambda found: [
            (pad, name, KeptText(row, number, agent_id, sql.read_time(at)), before, after or "", revision)
            for pad, name, row, number, agent_id, at, before, after, revision in found
        ],
    )


def replaced_ids(project_id: int, pad_ids: Sequence[int]) -> list[int]:
    """The ids of the rows with content of these pads."""
    among, values = sql.among("scratchpad_id", pad_ids)
    rows = sql.rows(
        f"""
        SELECT id FROM memory_scratchpadrevision
        WHERE project_id = %s AND {among} AND content IS NOT NULL""",
        [project_id, *values],
    )
    return [row_id for (row_id,) in rows]


def read_state(project_id: int, row_id: int, number: int) -> PadState | None:
    """A state with its content: the first `length` characters of the next content that is stored."""
    found = sql.rows(
        f"""
        SELECT {_FIELDS}, substr({_CONTENT}, 1, r.length)
        FROM memory_scratchpadrevision r JOIN memory_scratchpad p ON p.id = r.scratchpad_id
        LEFT JOIN core_agent a ON a.id = r.agent_id
        WHERE r.scratchpad_id = %s AND r.project_id = %s AND r.number = %s""",
        [row_id, project_id, number],
    )
    return _state(found[0]) if found else None


def read_beginnings(
    project_id: int, states: Sequence[tuple[int, int]], characters: int
) -> dict[tuple[int, int], str]:
    """The first `characters` of the contents of pads at numbers, by pad id and number."""
    found: dict[tuple[int, int], str] = {}
    for some in sql.chunks(states, STATES_READ):
        which = " OR ".join(["(r.scratchpad_id = %s AND r.number = %s)"] * len(some))
        rows = sql.rows(
            f"""
            SELECT r.scratchpad_id, r.number, substr(substr({_CONTENT}, 1, r.length), 1, %s)
            FROM memory_scratchpadrevision r JOIN memory_scratchpad p ON p.id = r.scratchpad_id
            WHERE r.project_id = %s AND ({which})""",
            [characters, project_id, *(value for state in some for value in state)],
        )
        found |= {(pad, number): text for pad, number, text in rows}
    return found


_FIELDS = "r.number, r.change, r.length, coalesce(a.name, 'system'), r.at"
# The next content that is stored: it begins with that of the state.
_CONTENT = """coalesce((
    SELECT n.content FROM memory_scratchpadrevision n
    WHERE n.scratchpad_id = r.scratchpad_id AND n.number >= r.number AND n.content IS NOT NULL
    ORDER BY n.number LIMIT 1), p.content)"""


def _state(values: Sequence[Any]) -> PadState:
    revision, change, length, agent, at, *content = values
    return PadState(revision, change, length, agent, sql.read_time(at), *content)


def _drop_until(row_id: int, number: int) -> list[int]:
    """Delete the states up to `number` and return the ids of those that had content."""
    rows = sql.rows(
        """
        DELETE FROM memory_scratchpadrevision WHERE scratchpad_id = %s AND number <= %s
        RETURNING CASE WHEN content IS NOT NULL THEN id END""",
        [row_id, number],
    )
    return [row for (row,) in rows if row is not None]
