"""Reading workflows: one, and lists of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ctxhub.core import sql
from ctxhub.core.clock import spoken
from ctxhub.core.errors import NotFound, shown
from ctxhub.core.inputs import clean_limit, clean_query, read_id
from ctxhub.core.listing import COUNTED_TO, Listing, make_cursor, read_cursor, total_of
from ctxhub.core.search.alternatives import parse_filter
from ctxhub.core.search.documents import kind_word
from ctxhub.core.search.engines import Narrowing, read_object_ids
from ctxhub.core.tool_names import operation
from memory.sql.decision_lists import Condition
from memory.sql.workflow_lists import Place, count_workflows, workflows_of
from memory.sql.workflow_lists import list_workflows as read_page
from memory.sql.workflow_rows import WorkflowRow, read_workflows

COLUMNS = ("id", "name", "pads", "active", "metadata", "created_at", "updated_at")


def find_workflow(project_id: int, workflow_id: int) -> WorkflowRow | None:
    found = read_workflows(project_id, [workflow_id]) if 0 < workflow_id < 2**63 else {}
    return found.get(workflow_id)


def get_workflow(project_id: int, workflow_id: int) -> WorkflowRow:
    if (row := find_workflow(project_id, workflow_id)) is None:
        raise NotFound(
            f"There is no workflow {shown(workflow_id)}.",
            hint=f"{operation('scratchpad workflows')} lists those there are; "
            f"{operation('scratchpad create_workflow')} begins one.",
        )
    return row


def list_workflows(
    project_id: int,
    *,
    active: bool | None = None,
    text: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> Listing:
    """The contract's list, newest first: what was written to last.

    `text` finds a workflow by its name, its metadata, and by the names and contents of its pads.
    """
    limit = clean_limit(limit)
    after = _place(cursor) if cursor else None
    conditions: list[Condition] = [("d.project_id = %s", [project_id])]
    if active is not None:
        conditions.append(("d.is_active = %s", [active]))
    if text:
        answering = _answering(project_id, clean_query(text, "text"))
        if not answering:
            return Listing(COLUMNS, [], extra=total_of(0))
        conditions.append(sql.among("d.id", answering))
    rows = read_page(conditions, limit + 1, after)
    more = len(rows) > limit
    # A first page that holds everything has counted it.
    counted = len(rows) if after is None and not more else count_workflows(conditions, COUNTED_TO + 1)

    def cursor_after(count: int) -> str:
        return make_cursor(rows[count - 1].updated_at.isoformat(), rows[count - 1].id)

    return Listing(
        COLUMNS,
        [list(workflow_item(row).values()) for row in rows[:limit]],
        next=cursor_after(limit) if more else None,
        extra=total_of(counted),
        cursor_after=cursor_after,
    )


def workflow_item(row: WorkflowRow) -> dict[str, Any]:
    """A workflow as the contract shows it."""
    return {
        "id": row.id,
        "name": row.name,
        "pads": row.pads,
        "active": row.is_active,
        "metadata": dict(row.metadata),
        "created_at": spoken(row.created_at),
        "updated_at": spoken(row.updated_at),
    }


def open_workflows(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """The items behind refs; a digest has no metadata."""
    ids = {row_id: name for name in names if (row_id := read_id(name))}
    items = {ids[row_id]: workflow_item(row) for row_id, row in read_workflows(project_id, list(ids)).items()}
    if not full:
        for item in items.values():
            del item["metadata"]
    return items


def _place(cursor: str) -> Place:
    moment, row_id = read_cursor(cursor, datetime, int)
    return moment, row_id


def _answering(project_id: int, text: str) -> list[int]:
    """The workflows in which all words of a text stand in one place: in itself, or in one of its pads."""
    query = parse_filter(project_id, text)
    own, pads = (
        read_object_ids(Narrowing([[f"P{project_id}"], [kind_word(kind)]]), query)
        for kind in ("workflow", "scratchpad")
    )
    return list({*own, *workflows_of(pads)})
