"""Reads the revisions of a memory: its titles and contents over time."""

from collections.abc import Sequence
from typing import Annotated, Any

from typing_extensions import TypedDict

from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import clean_limit
from ctxhub.core.kit.listing import Listing, make_cursor, preview, read_cursor
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.toolbox.argument_types import About, Time, Wrote
from memory.memories.rows.memories import LISTED, MemoryRow
from memory.memories.selectors.memories import get_memory
from memory.memories.sql.revisions import State, list_states, read_state

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


def list_revisions(project_id: int, memory_id: int, *, limit: int = 20, cursor: str | None = None) -> Listing:
    """The states of a memory, newest first, including the current one, without contents.

    Raises NotFound for an unknown memory.
    """
    limit = clean_limit(limit)
    before = read_cursor(cursor, int)[0] if cursor else NEWEST
    found = find_states(project_id, get_memory(project_id, memory_id, LISTED), limit + 1, before)
    rows = found[:limit]
    return Listing(
        COLUMNS,
        [[row.revision, preview(row.title), row.tokens, row.agent, format_time(row.at)] for row in rows],
        next=make_cursor(rows[-1].revision) if len(found) > limit else None,
        cursor_after=lambda count: make_cursor(rows[count - 1].revision),
    )


def find_states(project_id: int, row: MemoryRow, limit: int, before: int = NEWEST) -> Sequence[State]:
    """The states of a memory before a revision, newest first, without contents."""
    if row.revision == 1:
        return [first_state(row)] if before > 1 else []
    return list_states(project_id, row.id, limit, before)


def find_state(project_id: int, row: MemoryRow, revision: int) -> State | None:
    """A state of a memory with its content; None if there is none, or it is no longer kept."""
    if revision == row.revision == 1:
        return first_state(row)
    return read_state(project_id, row.id, revision) if 0 < revision <= row.revision else None


def get_state(project_id: int, row: MemoryRow, revision: int) -> State:
    """The same. Raises NotFound."""
    if (state := find_state(project_id, row, revision)) is None:
        raise NotFound(
            f"Memory {row.id} has no revision {shown(revision)}.",
            hint=f"{operation('memory revisions')} lists those that are kept.",
        )
    return state


def first_state(row: MemoryRow) -> State:
    """The state of a memory that was never reworded."""
    return State(1, row.title, row.tokens, row.agent, row.created_at, row.content)


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
