"""Lists of contexts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ctxhub.core.clock import spoken
from ctxhub.core.inputs import clean_limit, clean_query
from ctxhub.core.listing import COUNTED_TO, Listing, make_cursor, preview, read_cursor, total_of
from ctxhub.core.search.alternatives import parse_filter
from ctxhub.core.search.documents import kind_word
from ctxhub.core.search.engines import Narrowing, read_object_ids
from memory.sql.context_lists import count_contexts
from memory.sql.context_lists import list_contexts as read_page
from memory.sql.context_rows import ContextRow

COLUMNS = ("id", "name", "memories", "stack", "tags", "updated")


@dataclass(frozen=True, slots=True)
class ContextPage:
    rows: Sequence[ContextRow]
    has_more: bool
    total: Mapping[str, Any]

    def cursor_after(self, count: int) -> str:
        last = self.rows[count - 1]
        return make_cursor(last.updated_at.isoformat(), last.id)

    @property
    def next(self) -> str | None:
        return self.cursor_after(len(self.rows)) if self.has_more else None


def find_contexts(
    project_id: int, *, text: str | None = None, limit: int = 20, cursor: str | None = None
) -> ContextPage:
    """One page of the contexts, the last written to first; `text`: those in which all its words stand."""
    limit = clean_limit(limit)
    after = tuple(read_cursor(cursor, datetime, int)) if cursor else None
    ids = _answering(project_id, clean_query(text, "text")) if text else None
    if ids == []:
        return ContextPage([], has_more=False, total={"total": 0})
    rows = read_page(project_id, limit + 1, after, ids)
    more = len(rows) > limit
    counted = (
        len(ids)
        if ids
        else len(rows)
        if after is None and not more
        else count_contexts(project_id, COUNTED_TO + 1)
    )
    return ContextPage(rows[:limit], has_more=more, total=total_of(counted))


def list_contexts(project_id: int, **query: Any) -> Listing:
    page = find_contexts(project_id, **query)
    rows = [
        [
            *(row.id, preview(row.name), row.memory_count, row.stack, list(row.tags)),
            spoken(row.updated_at),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _answering(project_id: int, text: str) -> list[int]:
    return read_object_ids(
        Narrowing([[f"P{project_id}"], [kind_word("context")]]), parse_filter(project_id, text)
    )
