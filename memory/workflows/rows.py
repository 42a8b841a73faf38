"""The rows of workflows with their numbers of pads."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from ctxhub.core.kit import sql
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import Computed, Derived, Row, Table
from memory.workflows.models import Workflow


@frozen(kw_only=True)
class WorkflowRow(Row):
    name: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    is_active: bool = True
    pads: int = 0


def is_kept(metadata: Mapping[str, Any]) -> bool:
    """Whether `keep` is "never" or true, which exempts the workflow from the cleanup."""
    keep = metadata.get("keep")
    return keep is True or (isinstance(keep, str) and keep.strip().lower() == "never")


WORKFLOWS = Table(
    Workflow,
    WorkflowRow,
    derived={"is_kept": Derived(of=["metadata"], value=lambda row: is_kept(row.metadata))},
    computed={"pads": Computed("(SELECT count(*) FROM memory_scratchpad p WHERE p.workflow_id = d.id)")},
)


def workflows_of(pad_ids: Sequence[int]) -> list[int]:
    """The ids of the workflows that these pads are in."""
    if not pad_ids:
        return []
    among, values = sql.among("id", pad_ids)
    found = sql.rows(f"SELECT DISTINCT workflow_id FROM memory_scratchpad WHERE {among}", values)
    return [row_id for (row_id,) in found]


def touch_workflows(ids: Collection[int], at: datetime) -> None:
    """Set `updated_at` of workflows whose pads were written to."""
    among, values = sql.among("id", sorted(ids))
    sql.execute(
        f"UPDATE memory_workflow SET updated_at = %s WHERE {among}",
        [sql.stored_time(at), *values],
    )


def pads_of_workflows(ids: Sequence[int]) -> list[int]:
    among, values = sql.among("workflow_id", ids)
    found = sql.rows(f"SELECT id FROM memory_scratchpad WHERE {among} ORDER BY id", values)
    return [pad for (pad,) in found]


def idle_workflows(project_id: int, before: datetime, at_most: int) -> list[tuple[int, int]]:
    """Workflows last written to before a time, the longest idle first: id, and the bytes in its pads."""
    found = sql.rows(
        """
        SELECT d.id, (SELECT coalesce(sum(p.size), 0) FROM memory_scratchpad p WHERE p.workflow_id = d.id)
        FROM memory_workflow d WHERE d.project_id = %s AND d.is_kept = %s AND d.updated_at < %s
        ORDER BY d.updated_at LIMIT %s""",
        [project_id, False, sql.stored_time(before), at_most],
    )
    return [(row_id, int(size)) for row_id, size in found]
