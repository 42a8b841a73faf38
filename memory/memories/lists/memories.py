"""Lists of memories, with every filter and cursor."""

from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

from django.db import connection

from ctxhub.core.accounts.selectors.agents import author_id
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import clean_choice, clean_name
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.pages import Condition, ListPlan, Page, any_of, few_linked, lead
from ctxhub.core.paths.stale_rows import stale_filter
from ctxhub.core.vocabulary.selectors.names import find_vocabulary, ids_of
from ctxhub.core.vocabulary.tag_filters import read_tag_filters
from memory.memories.models.context import STACK_LENGTH
from memory.memories.models.memory import Difficulty, MemoryType
from memory.memories.rows.memories import LISTED, MEMORIES, MemoryRow
from memory.memories.selectors.contexts import get_context

COLUMNS = ("id", "title", "digest", "type", "context", "stack", "tags", "tokens", "updated", "stale")


class MemoryFilters(TypedDict, total=False):
    """The arguments of `memory list` that filter."""

    context: str | int | None
    type: str | int | None
    stack: str | None
    difficulty: str | int | None
    tags: Sequence[str] | None
    by: str | None
    stale: bool | None


def find_memories(
    project_id: int, *, limit: int = 20, cursor: str | None = None, **filters: Unpack[MemoryFilters]
) -> Page[MemoryRow]:
    """A page of the memories that match every filter, without contents, and their total."""
    return MEMORIES.page(project_id, _plan(project_id, filters), limit=limit, cursor=cursor, names=LISTED)


def list_memories(project_id: int, *, full: bool = False, **query: Any) -> Listing:
    """The list, newest first: digests, no contents. Titles are truncated unless `full`."""
    page = find_memories(project_id, **query)
    rows = [
        [
            *(row.id, preview(row.title, full=full), row.digest, row.type_label, row.context, row.stack),
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
