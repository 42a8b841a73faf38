"""Stores the revisions of memories, and reads them: titles and contents over time."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from django.db.models.functions import Left
from typing_extensions import TypedDict

from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_limit, read_id
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.ordering import NEWEST_FIRST, Ordering, Way, way_of
from ctxhub.core.kit.tool_names import operation
from ctxhub.toolbox.argument_types import About, Time, Wrote
from memory.memories.models import Memory, MemoryRevision
from memory.memories.queries import get_memory
from memory.memories.rows import LISTED, MEMORIES, MemoryRow

# Earlier states kept for each memory.
KEPT = 50
# A statement takes 30,000 values at most: two states of nine values for each memory.
WRITTEN_AT_ONCE = 1_500

TABLE = "memory_memoryrevision"
Rewording = tuple[MemoryRow, MemoryRow]
"""A memory before and after a change of its title or content."""


@frozen
class KeptText:
    """The row of an earlier state; `number` and `at`: which one it was, and when it was written."""

    id: int
    number: int
    agent_id: int | None
    at: datetime


@frozen
class Replaced:
    """An earlier state, and the title and content that followed it."""

    memory_id: int
    kept: KeptText
    title: str
    content: str
    next_title: str
    next_content: str


@frozen
class MemoryState:
    """An earlier or the current state of a memory; empty `content` in lists."""

    revision: int
    title: str
    tokens: int
    agent: str
    at: datetime
    content: str = ""


def insert_states(
    project_id: int, agent_id: int | None, rewordings: Sequence[Rewording]
) -> dict[int, KeptText]:
    """Store the former titles and contents, and who wrote the new ones. Returns the former by memory id."""
    kept: dict[int, KeptText] = {}
    for some in sql.chunks(rewordings, WRITTEN_AT_ONCE):
        written = sql.insert(
            TABLE,
            ("project_id", "memory_id", "number", "title", "content", "tokens", "agent_id", "at"),
            [record for old, new in some for record in _records(project_id, agent_id, old, new)],
            "ON CONFLICT (memory_id, number) DO UPDATE SET title = excluded.title, content = excluded.content"
            " RETURNING memory_id, id, number, agent_id, at",
        )
        numbers = {old.id: old.revision for old, _ in some}
        kept |= {
            memory: KeptText(row, number, agent, sql.read_time(at))
            for memory, row, number, agent, at in written
            if number == numbers[memory]
        }
    return kept


def drop_old_states(project_id: int, rows: Sequence[MemoryRow]) -> list[int]:
    """Delete the states of memories before the KEPT newest earlier ones. Returns the ids of their rows."""
    full = [row for row in rows if row.revision > KEPT + 1]
    dropped: list[int] = []
    for some in sql.chunks(full, WRITTEN_AT_ONCE):
        which = " OR ".join(["memory_id = %s AND number < %s"] * len(some))
        found = sql.rows(
            f"DELETE FROM {TABLE} WHERE ({which}) AND project_id = %s RETURNING id",
            [*(value for row in some for value in (row.id, row.revision - KEPT)), project_id],
        )
        dropped += [row_id for (row_id,) in found]
    return dropped


def list_states(
    project_id: int, memory_id: int, limit: int, after: int | None, way: Way
) -> list[MemoryState]:
    """A page of the stored states whose numbers follow `after`."""
    behind, values = way.behind("r.number", after)
    found = sql.rows(
        f"""
        SELECT {_FIELDS} {_FROM}
        WHERE r.memory_id = %s AND r.project_id = %s {behind}
        ORDER BY {way.of("r.number")} LIMIT %s""",
        [memory_id, project_id, *values, limit],
    )
    return [_state(values) for values in found]


def read_state(project_id: int, memory_id: int, number: int) -> MemoryState | None:
    """A stored state with its content."""
    found = sql.rows(
        f"""
        SELECT {_FIELDS}, coalesce(r.content, m.content) {_FROM}
        WHERE r.memory_id = %s AND r.project_id = %s AND r.number = %s""",
        [memory_id, project_id, number],
    )
    return _state(found[0]) if found else None


def replaced_texts(project_id: int, ids: Sequence[int]) -> sql.Reading[list[tuple[Replaced, MemoryRow]]]:
    """The earlier states of these ids, each with what followed it, and the memory without the content."""
    where, values = sql.by_ids("r", project_id, ids)
    of_states, _ = sql.by_ids("x", project_id, ids)
    memories = sql.among_found("d.id", f"SELECT x.memory_id FROM {TABLE} x WHERE {of_states}")
    statement = f"""
        SELECT r.memory_id, r.id, r.number, r.agent_id, r.at, r.title, r.content,
            coalesce(n.title, d.title), coalesce(n.content, d.content), {MEMORIES.selected(LISTED)}
        JOIN {TABLE} r ON r.memory_id = d.id
        LEFT JOIN {TABLE} n ON n.memory_id = r.memory_id AND n.number = r.number + 1
        WHERE {memories} AND {where} AND r.content IS NOT NULL"""
    return sql.Reading(statement, [*values, *values], STATE_COLUMNS + len(LISTED), _replaced)


def replaced_ids(project_id: int, memory_ids: Sequence[int]) -> list[int]:
    """The ids of the earlier states of these memories."""
    among, values = sql.among("memory_id", memory_ids)
    rows = sql.rows(
        f"SELECT id FROM {TABLE} WHERE project_id = %s AND {among} AND content IS NOT NULL",
        [project_id, *values],
    )
    return [row_id for (row_id,) in rows]


# -- Pieces ----------------------------------------------------------------------------------------

STATE_COLUMNS = 9


def _replaced(found: Sequence[sql.Row]) -> list[tuple[Replaced, MemoryRow]]:
    states = [
        Replaced(memory, KeptText(row, number, agent, sql.read_time(at)), *texts)
        for memory, row, number, agent, at, *texts in (columns[:STATE_COLUMNS] for columns in found)
    ]
    return [*zip(states, MEMORIES.as_rows((each[STATE_COLUMNS:] for each in found), LISTED), strict=True)]


_FIELDS = "r.number, coalesce(r.title, m.title), r.tokens, coalesce(a.name, 'system'), r.at"
_FROM = f"""
    FROM {TABLE} r JOIN memory_memory m ON m.id = r.memory_id LEFT JOIN core_agent a ON a.id = r.agent_id"""


def _state(values: Sequence[Any]) -> MemoryState:
    revision, title, tokens, agent, at, *content = values
    return MemoryState(revision, title, tokens, agent, sql.read_time(at), *content)


def _records(project_id: int, agent_id: int | None, old: MemoryRow, new: MemoryRow) -> list[Sequence[Any]]:
    """The rows of two states. That of the old one exists already unless it is the memory's first."""
    return [
        (
            *(project_id, old.id, old.revision, old.title, old.content, old.tokens),
            *(old.agent_id, sql.stored_time(old.created_at)),
        ),
        (
            *(project_id, new.id, new.revision, None, None, new.tokens),
            *(agent_id, sql.stored_time(new.updated_at)),
        ),
    ]


COLUMNS = ("revision", "title", "tokens", "agent", "at")
NEWEST = 2**63 - 1


class ListedMemoryRevision(TypedDict):
    revision: int
    title: str
    tokens: Annotated[int, About("What title and content cost.")]
    agent: Annotated[str, About("Who wrote them."), Wrote()]
    at: Time


class OneMemoryRevision(ListedMemoryRevision):
    id: Annotated[int, About("Of the memory.")]
    content: Annotated[str, About("As it was.")]


def list_revisions(
    project_id: int,
    memory_id: int,
    *,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """The states of a memory, newest first, including the current one, without contents.

    Raises NotFound for an unknown memory.
    """
    limit, way = clean_limit(limit), way_of(ordering, "-revision")
    after = way.read(cursor, int)[0] if cursor else None
    found = find_states(project_id, get_memory(project_id, memory_id, LISTED), limit + 1, after, way)
    rows = found[:limit]
    return Listing(
        COLUMNS,
        [[row.revision, preview(row.title), row.tokens, row.agent, format_time(row.at)] for row in rows],
        next=way.cursor(rows[-1].revision) if len(found) > limit else None,
        cursor_after=lambda count: way.cursor(rows[count - 1].revision),
    )


def find_states(
    project_id: int, row: MemoryRow, limit: int, after: int | None = None, way: Way = NEWEST_FIRST
) -> Sequence[MemoryState]:
    """The states of a memory that follow a revision, newest first unless `way` says so, without contents."""
    if row.revision == 1:
        return [first_state(row)] if after is None or way.follows(1, after) else []
    return list_states(project_id, row.id, limit, after, way)


def find_state(project_id: int, row: MemoryRow, revision: int) -> MemoryState | None:
    """A state of a memory with its content; None if there is none, or it is no longer kept."""
    if revision == row.revision == 1:
        return first_state(row)
    return read_state(project_id, row.id, revision) if 0 < revision <= row.revision else None


def get_state(project_id: int, row: MemoryRow, revision: int) -> MemoryState:
    """The same. Raises NotFound."""
    if (state := find_state(project_id, row, revision)) is None:
        raise NotFound(
            f"Memory {row.id} has no revision {shown(revision)}.",
            hint=f"{operation('memory revisions')} lists those that are kept.",
        )
    return state


def first_state(row: MemoryRow) -> MemoryState:
    """The state of a memory that was never reworded."""
    return MemoryState(1, row.title, row.tokens, row.agent, row.created_at, row.content)


def revision_item(project_id: int, memory_id: int, revision: int) -> dict[str, Any]:
    """A memory at a revision. Raises NotFound for an unknown memory or revision."""
    row = get_memory(project_id, memory_id)
    state = get_state(project_id, row, revision)
    return dict(
        OneMemoryRevision(
            id=row.id,
            title=state.title,
            content=state.content,
            revision=state.revision,
            tokens=state.tokens,
            agent=state.agent,
            at=format_time(state.at),
        )
    )


Version = tuple[int, str]


def texts_at(project_id: int, versions: Sequence[Version], characters: int) -> dict[Version, str]:
    """Title and the first `characters` of the content, by id and number of the revision."""
    ids = {memory_id for memory_id, _ in versions}
    past = MemoryRevision.objects.in_project(project_id).filter(
        memory_id__in=ids,
        number__in={number for _, version in versions if (number := read_id(version))},
        content__isnull=False,
    )
    now = Memory.objects.in_project(project_id).filter(pk__in=ids)
    beginning = Left("content", characters)
    found = [
        *past.values_list("memory_id", "number", "title", beginning),
        *now.values_list("pk", "revision", "title", beginning),
    ]
    texts = {(memory_id, str(number)): f"{title}\n\n{text}" for memory_id, number, title, text in found}
    return {key: texts[key] for key in versions if key in texts}
