"""What every change of decisions leaves behind, whoever wrote it: a revision of what was, and an event."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from ctxhub.core.services.events import Change, record
from ctxhub.core.services.search_index import index_documents
from ctxhub.core.services.tallies import Place, place, tally
from memory.models import DecisionStatus
from memory.search.decisions import decision_document, earlier_decision_document
from memory.sql.decision_rows import DecisionRow
from memory.sql.decision_writes import insert_revisions

EMPTY: Mapping[int, int] = {}


@dataclass(frozen=True)
class DecisionChange:
    """What a decision was (None: new) and is (None: deleted)."""

    old: DecisionRow | None
    new: DecisionRow | None

    @property
    def row(self) -> DecisionRow:
        """The decision as it is, or last was."""
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

    def touches(self, name: str) -> bool:
        """Whether the field has to be written: it differs, or everything is new."""
        return self.old is None or name in self.changed

    @property
    def verb(self) -> str:
        if self.old is None:
            return "created"
        if self.new is None:
            return "deleted"
        is_end = self.new.status == DecisionStatus.DEPRECATED != self.old.status
        return "deprecated" if is_end else "updated"


def record_decisions(
    *, project_id: int, agent_id: int | None, changes: Sequence[DecisionChange], at: datetime
) -> None:
    """Write revisions, figures, the index and events, as the last statements of the transaction.

    All rows carry the ids that they are stored under, and their words as the project writes them.
    """
    revised = [change.old for change in changes if change.old and change.new]
    revisions = insert_revisions(project_id, revised) if revised else {}
    tally(project_id, _difference(changes))
    index_decisions(project_id, changes, revisions)
    record(
        project_id=project_id, agent_id=agent_id, changes=[_event(change, at) for change in changes], at=at
    )


def index_decisions(
    project_id: int, changes: Sequence[DecisionChange], revisions: Mapping[int, int] = EMPTY
) -> None:
    """As they are, and what the `revisions` say that they were: ids by those of the decisions.

    Those that go are forgotten as every row is that Django deletes.
    """
    documents = [decision_document(change.new) for change in changes if change.new]
    earlier = [
        document
        for change in changes
        if change.old and change.new and change.old.id in revisions
        if (document := earlier_decision_document(revisions[change.old.id], change.old, change.new))
    ]
    are_new = all(change.old is None for change in changes)
    index_documents(project_id, "decision", documents, are_new=are_new, earlier=earlier)


def _difference(changes: Sequence[DecisionChange]) -> Counter[Place]:
    counts: Counter[Place] = Counter()
    for change in changes:
        for row, by in ((change.old, -1), (change.new, 1)):
            if row:
                counts[place("decision", row.layer_id, row.status)] += by
    return counts


def _event(change: DecisionChange, at: datetime) -> Change:
    row = change.row
    data: dict[str, Any] = {"version": row.version}
    if change.old and change.new:
        data |= {"was": change.old.version, "changed": change.changed}
    if change.verb == "deprecated" and row.reason:
        data["reason"] = row.reason
    return Change(
        "decision", change.verb, f"decision:{row.key}", data, max(at, row.updated_at) if change.new else at
    )


def _spoken(row: DecisionRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "value": (row.value, row.value_type),
        "version": row.version,
        "status": row.status,
        "layer": row.layer_id,
        "tags": sorted(name.casefold() for name in row.tags),
        "scopes": sorted(name.casefold() for name in row.scopes),
        "paths": list(row.paths),
        "rationale": row.rationale,
        "alternatives": list(row.alternatives),
        "tradeoffs": dict(row.tradeoffs),
        "metadata": dict(row.metadata),
        "reason": row.reason,
        "superseded_by": row.superseded_by_id,
    }
