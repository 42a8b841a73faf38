"""Reads a memory."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, Unpack

from typing_extensions import TypedDict

from ctxhub.core.hub.outlines import Part, opened
from ctxhub.core.hub.partial_reads import Excerpt, Opened
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.paths.rows import shown_staleness
from ctxhub.core.toolbox.argument_types import About, Author, StaleChanges, Time, one_of
from memory.memories.models.memory import Difficulty, MemoryType
from memory.memories.rows.memories import LISTED, MEMORIES, MemoryRow

TypeLabel = Annotated[str, one_of(*MemoryType.labels)]
Score = Annotated[float, About(schema={"minimum": 0, "maximum": 1})]


class ListedMemory(TypedDict):
    id: int
    title: str
    digest: Annotated[str, About("The first sentence of its content.")]
    type: TypeLabel
    context: str
    stack: str
    tags: list[str]
    tokens: Annotated[int, About("What title and content cost.")]
    updated: Time
    stale: NotRequired[StaleChanges | None]


class Memory(ListedMemory):
    content: str
    difficulty: Annotated[str, one_of(*Difficulty.labels)] | None
    paths: list[str]
    metadata: dict[str, Any]
    agent: Author
    created: Time
    revision: Annotated[int, About("The number of this title and content.")]
    stale_since: NotRequired[Time]


def get_memory(project_id: int, memory_id: int, names: Sequence[str] = ()) -> MemoryRow:
    """The memory of this id, with these fields (): all.

    Raises NotFound, also for a number too large for the database.
    """
    found = MEMORIES.read(project_id, [memory_id], names) if 0 < memory_id < 2**63 else {}
    if memory_id not in found:
        raise unknown_memory(memory_id)
    return found[memory_id]


def unknown_memory(memory_id: int | str) -> NotFound:
    return NotFound(
        f"There is no memory {shown(memory_id)}.", hint=f"{operation('memory search')} finds those there are."
    )


def memory_item(row: MemoryRow) -> dict[str, Any]:
    """A complete memory as tools and REST show it."""
    item = Memory(
        id=row.id,
        title=row.title,
        content=row.content,
        digest=row.digest,
        type=row.type_label,
        context=row.context,
        stack=row.stack,
        difficulty=row.difficulty_label,
        tags=list(row.tags),
        paths=list(row.paths),
        metadata=dict(row.metadata),
        tokens=row.tokens,
        agent=row.agent,
        created=format_time(row.created_at),
        updated=format_time(row.updated_at),
        revision=row.revision,
    )
    return {**item, **shown_staleness(row)}


def opened_memory(row: MemoryRow, **part: Unpack[Part]) -> Opened | Excerpt:
    """A memory, complete or in part, or with its headings instead of its content."""
    return opened(memory_item(row), "content", "memory", outlined_by="memory get", **part)


def open_memories(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """The items of refs: complete if `full`, else a digest."""
    ids = {row_id: name for name in names if (row_id := read_id(name))}
    if full:
        return {ids[n]: memory_item(row) for n, row in MEMORIES.read(project_id, list(ids)).items()}
    return {ids[n]: _digest(row) for n, row in MEMORIES.read(project_id, list(ids), LISTED).items()}


def _digest(row: MemoryRow) -> dict[str, Any]:
    return {
        "title": row.title,
        "digest": row.digest,
        "type": row.type_label,
        "context": row.context,
        "tokens": row.tokens,
        **shown_staleness(row),
    }
