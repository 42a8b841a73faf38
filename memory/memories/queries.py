"""Reads memories: lists with every filter, one by its id, and the turns of a conversation."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, Unpack

from django.db import connection
from typing_extensions import TypedDict

from ctxhub.core.accounts.agents import author_id
from ctxhub.core.hub.outlines import Part, opened
from ctxhub.core.hub.partial_reads import Excerpt, Opened
from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import clean_choice, clean_name, read_id
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.ordering import Ordering
from ctxhub.core.kit.pages import Condition, ListPlan, Page, any_of, few_linked, in_order, lead
from ctxhub.core.kit.sql import Selected
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.paths.rows import shown_staleness, stale_filter
from ctxhub.core.vocabulary.names import find_vocabulary, ids_of
from ctxhub.core.vocabulary.tag_filters import read_tag_filters
from ctxhub.toolbox.argument_types import (
    About,
    Author,
    ByAgent,
    Cursor,
    Limit,
    OnlyStale,
    Ref,
    StaleChanges,
    Time,
    WithAnyTag,
    one_of,
)
from memory.contexts.models import STACK_LENGTH
from memory.contexts.queries import get_context
from memory.memories.inputs import DifficultyWord, TypeWord
from memory.memories.models import Difficulty, MemoryType
from memory.memories.rows import LISTED, MEMORIES, MemoryRow

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


# What the list can be ordered by: what an index has.
ORDERS = {"updated": ["updated_at"], "id": ["id"]}
COLUMNS = ("id", "title", "digest", "type", "context", "stack", "tags", "tokens", "updated", "stale")


InContext = Annotated[Ref, About("In this context, by its name or id.")]
OfType = Annotated[TypeWord, About("Of this type.")]
OnStack = Annotated[str, About("About this.")]


class MemoryFilters(TypedDict, total=False):
    """What `memory list` takes, before validation."""

    context: InContext | None
    type: OfType | None
    stack: OnStack | None
    difficulty: Annotated[DifficultyWord, About("Of this difficulty.")] | None
    tags: WithAnyTag | None
    by: ByAgent | None
    limit: Limit
    cursor: Cursor | None
    stale: OnlyStale | None


def find_memories(
    project_id: int, *, ordering: Ordering = None, **filters: Unpack[MemoryFilters]
) -> Page[MemoryRow]:
    """A page of the memories that match every filter, without contents, and their total."""
    limit, cursor = filters.get("limit", 20), filters.get("cursor")
    plan = in_order(_plan(project_id, filters), ordering, ORDERS)
    return MEMORIES.page(project_id, plan, limit=limit, cursor=cursor, names=LISTED)


def list_memories(project_id: int, *, ordering: Ordering = None, **filters: Unpack[MemoryFilters]) -> Listing:
    """The list, newest first: digests, no contents, and the beginnings of titles."""
    page = find_memories(project_id, ordering=ordering, **filters)
    rows = [
        [
            *(row.id, preview(row.title), row.digest, row.type_label, row.context, row.stack),
            *(list(row.tags), row.tokens, format_time(row.updated_at), row.stale or None),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _plan(project_id: int, filters: MemoryFilters) -> ListPlan:
    tags = read_tag_filters(filters.get("tags"), "tags")
    conditions = _conditions(project_id, filters)
    tagged = find_vocabulary(project_id, tag_filters=tags).found_by(tags) if tags else []
    linked = any_of(MEMORIES.links["tags"], ids_of(tagged))
    stale = stale_filter(project_id, "memory", filters.get("stale"))
    few_ids = few_linked(linked) if stale.ids is None else stale.ids
    if (tags and not linked) or few_ids == []:
        return ListPlan(is_empty=True)
    # The first filter uses its index; a plus keeps SQLite, which has no statistics, off the other indexes.
    plus = "+" if connection.vendor == "sqlite" else ""
    leading = _leading(conditions, by_others=lead(linked) or few_ids is not None)
    all_conditions: list[Condition] = [
        *((f"{'' if column in leading else plus}d.{column} = %s", [value]) for column, value in conditions),
        *stale.conditions,
    ]
    leads = "project_id" in leading
    if few_ids is not None:
        with_tags = [links.to_any(ids) for links, ids in linked]
        return ListPlan([*all_conditions, *with_tags], ids=few_ids, leads=leads)
    return ListPlan.along(linked, all_conditions, leads=leads)


def _leading(conditions: Sequence[tuple[str, Any]], *, by_others: bool) -> Sequence[str]:
    """The columns of the index that the query uses; none if rows are found by tags or ids."""
    if by_others:
        return ()
    first = conditions[0][0] if conditions else "project_id"
    return (first,) if first == "context_id" else ("project_id", first)


def _conditions(project_id: int, filters: MemoryFilters) -> list[tuple[str, Any]]:
    """Columns and their required values, the most selective first."""
    given = {name: value for name, value in filters.items() if value not in (None, "")}
    found: list[tuple[str, Any]] = []
    if "context" in given:
        found.append(("context_id", get_context(project_id, str(given["context"])).id))
    if "stack" in given:
        found.append(
            ("folded_stack", clean_name(str(given["stack"]), "stack", at_most=STACK_LENGTH).casefold())
        )
    if "difficulty" in given:
        found.append(("difficulty", clean_choice(given["difficulty"], Difficulty, "difficulty").value))
    if "by" in given:
        found.append(("agent_id", author_id(project_id, str(given["by"]))))
    if "type" in given:
        found.append(("type", clean_choice(given["type"], MemoryType, "type").value))
    return found


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
