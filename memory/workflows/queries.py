"""Reads workflows: one, or a list."""

from collections.abc import Sequence
from typing import Annotated, Any

from typing_extensions import TypedDict

from ctxhub.core.accounts.agents import author_id
from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import clean_query, read_id
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.ordering import Ordering
from ctxhub.core.kit.pages import Condition, ListPlan, in_order
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.search.alternatives import parse_filter
from ctxhub.core.search.documents import kind_word
from ctxhub.core.search.engines import Narrowing
from ctxhub.core.search.matches import read_object_ids
from ctxhub.toolbox.argument_types import About, Time
from memory.workflows.rows import WORKFLOWS, WorkflowRow, workflows_of

# What the list can be ordered by: what an index has.
ORDERS = {"updated_at": ["updated_at"], "id": ["id"]}
COLUMNS = ("id", "name", "pads", "active", "metadata", "created_at", "updated_at")


class Workflow(TypedDict):
    id: int
    name: str
    pads: Annotated[int, About("How many it has.")]
    active: bool
    metadata: Any
    created_at: Time
    updated_at: Annotated[Time, About("When it, or one of its pads, was last written to.")]


def find_workflow(project_id: int, workflow_id: int) -> WorkflowRow | None:
    found = WORKFLOWS.read(project_id, [workflow_id]) if 0 < workflow_id < 2**63 else {}
    return found.get(workflow_id)


def get_workflow(project_id: int, workflow_id: int) -> WorkflowRow:
    if (row := find_workflow(project_id, workflow_id)) is None:
        raise unknown_workflow(workflow_id)
    return row


def unknown_workflow(workflow_id: int | str) -> NotFound:
    return NotFound(
        f"There is no workflow {shown(workflow_id)}.",
        hint=f"{operation('scratchpad workflows')} lists those there are; "
        f"{operation('scratchpad create_workflow')} begins one.",
    )


def list_workflows(
    project_id: int,
    *,
    active: bool | None = None,
    text: str | None = None,
    by: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """The workflows, the last written to first.

    `text` matches the name and metadata of a workflow, and the names and contents of its pads.
    """
    plan = in_order(_plan(project_id, active, text, by), ordering, ORDERS)
    page = WORKFLOWS.page(project_id, plan, limit=limit, cursor=cursor)
    rows = [list(workflow_item(row).values()) for row in page.rows]
    return Listing(COLUMNS, rows, next=page.next, extra=page.total, cursor_after=page.cursor_after)


def workflow_item(row: WorkflowRow) -> dict[str, Any]:
    """A workflow as tools and REST show it."""
    return dict(
        Workflow(
            id=row.id,
            name=row.name,
            pads=row.pads,
            active=row.is_active,
            metadata=dict(row.metadata),
            created_at=format_time(row.created_at),
            updated_at=format_time(row.updated_at),
        )
    )


def open_workflows(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """The items of refs: complete if `full`, else without metadata."""
    ids = {row_id: name for name in names if (row_id := read_id(name))}
    items = {ids[row_id]: workflow_item(row) for row_id, row in WORKFLOWS.read(project_id, list(ids)).items()}
    if not full:
        for item in items.values():
            del item["metadata"]
    return items


def _plan(project_id: int, active: bool | None, text: str | None, by: str | None) -> ListPlan:
    conditions: list[Condition] = [] if active is None else [("d.is_active = %s", [active])]
    if by:
        conditions.append(("d.agent_id = %s", [author_id(project_id, by)]))
    if not text:
        return ListPlan(conditions)
    ids = _matching_ids(project_id, clean_query(text, "text"))
    return ListPlan([*conditions, sql.among("d.id", ids)], is_empty=not ids)


def _matching_ids(project_id: int, text: str) -> list[int]:
    """The workflows that have all words of a text either in themselves or in one of their pads."""
    query = parse_filter(project_id, text)
    own, pads = (
        read_object_ids(Narrowing([[f"P{project_id}"], [kind_word(kind)]]), query)
        for kind in ("workflow", "scratchpad")
    )
    return list({*own, *workflows_of(pads)})
