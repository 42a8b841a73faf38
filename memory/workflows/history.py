"""The history of workflows: events, counters and index entries of every change."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ctxhub.core.events.counters import CounterKey, counter_key
from ctxhub.core.history import Change, History
from ctxhub.core.search.documents import Document
from ctxhub.core.text.readable import as_lines
from memory.workflows.rows import WORKFLOWS, WorkflowRow, pads_of_workflows


def workflow_document(row: WorkflowRow) -> Document:
    """Dated `created_at`: `updated_at` moves with every write to a pad, which has its own document."""
    return Document(
        object_id=row.id,
        ref=f"workflow:{row.id}",
        title=row.name or f"workflow {row.id}",
        body="\n".join(as_lines(row.metadata)),
        at=row.created_at,
        agent_id=row.agent_id,
        mark="" if row.is_active else "closed",
    )


class WorkflowHistory(History[WorkflowRow]):
    """Pads deleted with their workflow are subtracted from the counters here and get no events.

    The `detail` of a delete is the number of pads that were deleted before, in batches.
    """

    kind = "workflow"
    table = WORKFLOWS
    compared = ("name", "metadata", "active")

    def document(self, row: WorkflowRow) -> Document:
        return workflow_document(row)

    def note(self, row: WorkflowRow) -> str:
        return row.name

    def verb(self, change: Change[WorkflowRow]) -> str:
        if change.changed != ["active"]:
            return "updated"
        return "reopened" if change.row.is_active else "closed"

    def data(self, change: Change[WorkflowRow]) -> dict[str, Any]:
        note = {"note": change.row.name} if change.row.name else {}
        if change.verb == "updated":
            return {**note, "changed": change.changed}
        pads = change.row.pads + (change.detail or 0) if change.new is None else 0
        return {**note, "scratchpads": pads} if pads else note

    def count(self, changes: Sequence[Change[WorkflowRow]]) -> Counter[CounterKey]:
        counts = super().count(changes)
        counts[counter_key("scratchpad")] -= sum(change.row.pads for change in changes if change.new is None)
        return counts

    def taken_along(self, project_id: int, ids: Sequence[int]) -> Mapping[str, Sequence[int]]:
        return {"scratchpad": pads_of_workflows(ids)}


HISTORY = WorkflowHistory()
