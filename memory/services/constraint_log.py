"""What every change of constraints leaves behind, whoever wrote it: figures and an event."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from ctxhub.core.services.events import Change, record
from ctxhub.core.services.search_index import index_documents
from ctxhub.core.services.tallies import Place, place, tally
from memory.models import ConstraintStatus
from memory.search.constraints import constraint_document
from memory.sql.constraint_rows import ConstraintRow


@dataclass(frozen=True)
class ConstraintChange:
    """What a constraint was (None: new) and is (None: deleted), and why it was changed."""

    old: ConstraintRow | None
    new: ConstraintRow | None
    reason: str = ""

    @property
    def row(self) -> ConstraintRow:
        """The constraint as it is, or last was."""
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
        if "status" not in self.changed:
            return "updated"
        return "activated" if self.new.status == ConstraintStatus.ACTIVE else "deactivated"


def record_constraints(
    *, project_id: int, agent_id: int | None, changes: Sequence[ConstraintChange], at: datetime
) -> None:
    """Write figures, the index and events, as the last statements of the transaction.

    All rows carry the ids that they are stored under, and their words as the project writes them.
    """
    tally(project_id, _difference(changes))
    index_constraints(project_id, changes)
    record(project_id=project_id, agent_id=agent_id, changes=[_event(change) for change in changes], at=at)


def index_constraints(project_id: int, changes: Sequence[ConstraintChange]) -> None:
    """Those that go are forgotten as every row is that Django deletes."""
    documents = [constraint_document(change.new) for change in changes if change.new]
    are_new = all(change.old is None for change in changes)
    index_documents(project_id, "constraint", documents, are_new=are_new)


def _difference(changes: Sequence[ConstraintChange]) -> Counter[Place]:
    counts: Counter[Place] = Counter()
    for change in changes:
        for row, by in ((change.old, -1), (change.new, 1)):
            if row:
                counts[place("constraint", row.layer_id, row.status)] += by
    return counts


def _event(change: ConstraintChange) -> Change:
    """Never the text: it may be deleted because it should not have been written."""
    row = change.row
    data: dict[str, Any] = {}
    if change.old is None or change.new is None:
        data["note"] = f"{row.category}, {row.spoken_priority}"
    elif change.changed != ["status"]:
        data["changed"] = change.changed
    if change.reason:
        data["reason"] = change.reason
    return Change("constraint", change.verb, f"constraint:{row.id}", data)


def _spoken(row: ConstraintRow) -> dict[str, Any]:
    return {
        "category": row.category_id,
        "text": row.text,
        "priority": row.priority,
        "layer": row.layer_id,
        "tags": sorted(name.casefold() for name in row.tags),
        "scopes": sorted(name.casefold() for name in row.scopes),
        "paths": list(row.paths),
        "reason": row.reason,
        "status": row.status,
    }
