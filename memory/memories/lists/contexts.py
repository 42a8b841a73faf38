"""Lists of contexts."""

from typing import Any

from ctxhub.core.accounts.selectors.agents import author_id
from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import clean_query
from ctxhub.core.kit.listing import Listing, preview
from ctxhub.core.kit.pages import Condition, ListPlan, Page
from ctxhub.core.search.alternatives import parse_filter
from ctxhub.core.search.documents import kind_word
from ctxhub.core.search.engines import Narrowing
from ctxhub.core.search.matches import read_object_ids
from memory.memories.rows.contexts import CONTEXTS, ContextRow

COLUMNS = ("id", "name", "memories", "stack", "tags", "updated")


def find_contexts(
    project_id: int,
    *,
    text: str | None = None,
    by: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> Page[ContextRow]:
    """A page of the contexts, the last written to first; `text`: only those that have all its words."""
    return CONTEXTS.page(project_id, _plan(project_id, text, by), limit=limit, cursor=cursor)


def list_contexts(project_id: int, **query: Any) -> Listing:
    page = find_contexts(project_id, **query)
    rows = [
        [
            *(row.id, preview(row.name), row.memory_count, row.stack, list(row.tags)),
            format_time(row.updated_at),
        ]
        for row in page.rows
    ]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def _plan(project_id: int, text: str | None, by: str | None) -> ListPlan:
    conditions: list[Condition] = [("d.agent_id = %s", [author_id(project_id, by)])] if by else []
    if not text:
        return ListPlan(conditions)
    ids = _matching_ids(project_id, clean_query(text, "text"))
    total = None if by else len(ids)
    return ListPlan([*conditions, sql.among("d.id", ids)], total=total, is_empty=not ids)


def _matching_ids(project_id: int, text: str) -> list[int]:
    return read_object_ids(
        Narrowing([[f"P{project_id}"], [kind_word("context")]]), parse_filter(project_id, text)
    )
