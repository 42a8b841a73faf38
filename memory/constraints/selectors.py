"""Reads constraints by id and by ref."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

# Pydantic builds schemas of it and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.listing import preview
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.paths.rows import shown_staleness
from ctxhub.core.toolbox.argument_types import Author, StaleChanges, Time, one_of
from memory.constraints.models import ConstraintStatus
from memory.constraints.rows import CONSTRAINTS, ConstraintRow


class ListedConstraint(TypedDict):
    id: int
    category: str
    text: str
    priority: Annotated[str, one_of(*Priority.labels)]
    layer: str | None
    tags: list[str]
    scopes: list[str]
    reason: str
    status: Annotated[str, one_of(*ConstraintStatus.labels)]
    agent: Author
    at: Time
    stale: NotRequired[StaleChanges | None]


class Constraint(ListedConstraint):
    paths: list[str]
    stale_since: NotRequired[Time]


def get_constraint(project_id: int, constraint_id: int) -> ConstraintRow:
    """Return a constraint. Raises NotFound, also for an id too large for the database."""
    found = CONSTRAINTS.read(project_id, [constraint_id]) if 0 < constraint_id < 2**63 else {}
    if constraint_id not in found:
        raise NotFound(
            f"There is no constraint {shown(constraint_id)}.",
            hint=f"{operation('constraint list')} shows those there are, inactive ones with status any.",
        )
    return found[constraint_id]


def constraint_item(row: ConstraintRow) -> dict[str, Any]:
    """Return all fields of a constraint, as tools and REST show them."""
    item = Constraint(
        id=row.id,
        category=row.category,
        text=row.text,
        priority=row.priority_label,
        layer=row.layer,
        tags=list(row.tags),
        scopes=list(row.scopes),
        paths=list(row.paths),
        reason=row.reason,
        status=row.status_label,
        agent=row.agent,
        at=format_time(row.created_at),
    )
    return {**item, **shown_staleness(row)}


def open_constraints(project_id: int, names: Sequence[str], full: bool) -> dict[str, dict[str, Any]]:
    """Return items by their ref names: all fields if `full`, else a digest with a truncated text."""
    ids = {row_id: name for name in names if (row_id := read_id(name))}
    return {
        ids[row_id]: constraint_item(row) if full else _digest(row)
        for row_id, row in CONSTRAINTS.read(project_id, list(ids)).items()
    }


def _digest(row: ConstraintRow) -> dict[str, Any]:
    return {
        "category": row.category,
        "text": preview(row.text),
        "priority": row.priority_label,
        "status": row.status_label,
        **shown_staleness(row),
    }
