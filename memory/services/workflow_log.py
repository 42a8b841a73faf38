"""What every change of workflows leaves behind, whoever wrote it: figures, the index and an event."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from ctxhub.core.services.events import Change, record
from ctxhub.core.services.search_index import index_documents
from ctxhub.core.services.tallies import place, tally
from memory.search.workflows import workflow_document
from memory.sql.workflow_rows import WorkflowRow


@dataclass(frozen=True)
class WorkflowChange:
    """What a workflow was (None: new) and is (None: deleted)."""

    old: WorkflowRow | None
    new: WorkflowRow | None

    @property
    def row(self) -> WorkflowRow:
        """The workflow as it is, or last was."""
        row = self.new or self.old
        assert row is not None
        return row

    @cached_property
    def changed(self) -> list[str]:
        """The contract's names of what differs."""
        if self.old is None or self.new is None:
            return []
        old, new = _spoken(self.old), _spoken(self.new)
        return [name for name in new if old[name] != new[name]]

    @property
    def verb(self) -> str:
        if self.old is None:
            return "created"
        if self.new is None:
            return "deleted"
        if self.changed != ["active"]:
            return "updated"
        return "reopened" if self.new.is_active else "closed"


def record_workflows(
    *, project_id: int, agent_id: int | None, changes: Sequence[WorkflowChange], at: datetime
) -> None:
    """Write figures, the index and events, as the last statements of the transaction."""
    added = sum((change.new is not None) - (change.old is not None) for change in changes)
    count_workflows(project_id, added)
    index_workflows(project_id, changes)
    record(project_id=project_id, agent_id=agent_id, changes=[_event(change) for change in changes], at=at)


def count_workflows(project_id: int, by: int) -> None:
    tally(project_id, Counter({place("workflow"): by}))


def index_workflows(project_id: int, changes: Sequence[WorkflowChange]) -> None:
    """Those that go are forgotten where they are deleted."""
    documents = [workflow_document(change.new) for change in changes if change.new]
    are_new = all(change.old is None for change in changes)
    index_documents(project_id, "workflow", documents, are_new=are_new)


def _event(change: WorkflowChange) -> Change:
    row = change.row
    data: dict[str, Any] = {"note": row.name} if row.name else {}
    if change.verb == "updated":
        data["changed"] = change.changed
    if change.new is None and row.pads:
        data["scratchpads"] = row.pads
    return Change("workflow", change.verb, f"workflow:{row.id}", data)


def _spoken(row: WorkflowRow) -> dict[str, Any]:
    return {"name": row.name, "metadata": dict(row.metadata), "active": row.is_active}
