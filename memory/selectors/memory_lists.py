"""Lists of memories, with every filter and cursor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, Unpack

from django.db import connection

from ctxhub.core.clock import spoken
from ctxhub.core.inputs import clean_choice, clean_limit, clean_name, clean_words
from ctxhub.core.listing import COUNTED_TO, Listing, make_cursor, preview, read_cursor, total_of
from ctxhub.core.selectors.words import find_words
from memory.models import Difficulty, MemoryType
from memory.models.context import STACK_LENGTH
from memory.selectors.contexts import get_context
from memory.sql.decision_lists import Condition
from memory.sql.memory_lists import Place, Walk, count_memories
from memory.sql.memory_lists import list_memories as read_page
from memory.sql.memory_rows import MemoryRow

COLUMNS = ("id", "title", "digest", "type", "context", "stack", "tags", "tokens", "updated")


class MemoryFilters(TypedDict, total=False):
    """The filters of `memory list`, as a caller says them."""

    context: str | int | None
    type: str | int | None
    stack: str | None
    difficulty: str | int | None
    tags: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class MemoryPage:
    rows: Sequence[MemoryRow]
    has_more: bool
    total: Mapping[str, Any]

    def cursor_after(self, count: int) -> str:
        last = self.rows[count - 1]
        return make_cursor(last.updated_at.isoformat(), last.id)

    @property
    def next(self) -> str | None:
        return self.cursor_after(len(self.rows)) if self.has_more else None


def find_memories(
    project_id: int, *, limit: int = 20, cursor: str | None = None, **filters: Unpack[MemoryFilters]
) -> MemoryPage:
    """One page of the memories that pass every filter, without contents, and how many there are."""
    limit = clean_limit(limit)
    after = _place(cursor) if cursor else None
    walk = _walk(project_id, filters)
    if walk is None:
        return MemoryPage([], has_more=False, total={"total": 0})
    rows = read_page(walk, limit + 1, after)
    more = len(rows) > limit
    # A first page that holds everything has counted it.
    counted = len(rows) if after is None and not more else count_memories(walk, COUNTED_TO + 1)
    return MemoryPage(rows[:limit], has_more=more, total=total_of(counted))


def list_memories(project_id: int, *, full: bool = False, **query: Any) -> Listing:
    """The contract's list, newest first: digests, no contents. Titles are cut unless full."""
    page = find_memories(project_id, **query)
    rows = [
        [
            *(row.id, preview(row.title, full=full), row.digest, row.spoken_type, row.context, row.stack),
            *(list(row.tags), row.tokens, spoken(row.updated_at)),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _place(cursor: str) -> Place:
    updated_at, row_id = read_cursor(cursor, datetime, int)
    return updated_at, row_id


def _walk(project_id: int, filters: MemoryFilters) -> Walk | None:
    """The filters as conditions; None where nothing carries the tags."""
    tags = clean_words(filters.get("tags"), "tags")
    narrow = _narrow(project_id, filters)
    tag_ids = list(find_words(project_id, tags=tags).tags.values()) if tags else []
    if tags and not tag_ids:
        return None
    # The narrowest filter leads; the plus keeps SQLite, which has no statistics, off the others' indexes.
    plus = "+" if connection.vendor == "sqlite" else ""
    leading = _leading(narrow, bool(tags))
    conditions: list[Condition] = [
        (f"{'' if column in leading else plus}d.{column} = %s", [value])
        for column, value in [("project_id", project_id), *narrow]
    ]
    return Walk(conditions, tag_ids)


def _leading(narrow: Sequence[tuple[str, Any]], has_tags: bool) -> Sequence[str]:
    """The columns of the index that is walked; along tags none is."""
    if has_tags:
        return ()
    first = narrow[0][0] if narrow else "project_id"
    return (first,) if first == "context_id" else ("project_id", first)


def _narrow(project_id: int, filters: MemoryFilters) -> list[tuple[str, Any]]:
    """Columns and the values they must have, those first that leave the fewest memories."""
    said = {name: value for name, value in filters.items() if value not in (None, "")}
    found: list[tuple[str, Any]] = []
    if "context" in said:
        found.append(("context_id", get_context(project_id, str(said["context"])).id))
    if "stack" in said:
        found.append(
            ("folded_stack", clean_name(str(said["stack"]), "stack", at_most=STACK_LENGTH).casefold())
        )
    if "difficulty" in said:
        found.append(("difficulty", clean_choice(said["difficulty"], Difficulty, "difficulty").value))
    if "type" in said:
        found.append(("type", clean_choice(said["type"], MemoryType, "type").value))
    return found
