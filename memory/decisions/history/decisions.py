"""Records every change of a decision: revision, search document, counters and event."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ctxhub.core.events.services import events
from ctxhub.core.history import Change, History
from ctxhub.core.search.documents import Document
from ctxhub.core.vocabulary.models import Scope, Tag
from memory.decisions.models.decision import Decision, DecisionStatus
from memory.decisions.rows.decisions import DECISIONS, DecisionRow
from memory.decisions.rules.versions import bump
from memory.decisions.search.documents import decision_document, earlier_decision_document
from memory.decisions.sql.writes import insert_revisions, touch_links, upsert_decisions

DecisionChange = Change[DecisionRow]


class DecisionHistory(History[DecisionRow]):
    kind = "decision"
    table = DECISIONS
    compared = (
        *("key", "value", "version", "status", "layer", "tags", "scopes", "paths", "rationale"),
        *("alternatives", "tradeoffs", "metadata", "reason", "superseded_by"),
    )
    counted_by = ("layer_id", "status")
    signs_changes = True
    is_given_to_writers = True
    has_paths = True
    shown = {Tag: "tags", Scope: "scopes"}

    def ref(self, row: DecisionRow) -> str:
        return f"decision:{row.key}"

    def version(self, row: DecisionRow) -> str:
        return row.version

    def patterns(self, row: DecisionRow) -> Sequence[str]:
        """A deprecated decision bears on nothing."""
        return () if row.status == DecisionStatus.DEPRECATED else row.paths

    def document(self, row: DecisionRow) -> Document:
        return decision_document(row)

    def earlier_document(self, state: int, old: DecisionRow, new: DecisionRow) -> Document | None:
        return earlier_decision_document(state, old, new)

    def compare(self, row: DecisionRow) -> dict[str, Any]:
        """Compare the value with its type: 5 and "5" differ."""
        return {**super().compare(row), "value": (row.value, row.value_type)}

    def verb(self, change: DecisionChange) -> str:
        assert change.old
        is_deprecation = change.row.status == DecisionStatus.DEPRECATED != change.old.status
        return "deprecated" if is_deprecation else "updated"

    def data(self, change: DecisionChange) -> dict[str, Any]:
        data: dict[str, Any] = {"version": change.row.version}
        if change.old and change.new:
            data |= {"was": change.old.version, "changed": change.changed}
        if change.verb == "deprecated" and change.row.reason:
            data["reason"] = change.row.reason
        return data

    def event(self, change: DecisionChange, at: datetime) -> events.Change:
        """Use the time of the row: each decision of a batch has its own."""
        event_at = max(at, change.row.updated_at) if change.new else at
        return replace(super().event(change, at), at=event_at)

    def before_record(
        self, project_id: int, agent_id: int | None, changes: Sequence[DecisionChange], at: datetime
    ) -> Mapping[int, int]:
        """Store the old state of changed decisions as revisions."""
        revised = [change.old for change in changes if change.old and change.new]
        return insert_revisions(project_id, revised) if revised else {}

    def complete(self, old: DecisionRow, new: DecisionRow, at: datetime) -> DecisionRow:
        """Raise the version for a new value, unless the writer set another version."""
        has_new_value = (new.value, new.value_type) != (old.value, old.value_type)
        if has_new_value and new.version == old.version:
            new = replace(new, version=bump(old.version))
        return super().complete(old, new, at)

    def before_delete(self, project_id: int, old: Sequence[DecisionRow]) -> Sequence[DecisionRow]:
        """Return the decisions that they supersede."""
        successors = [row.id for row in old]
        superseded = Decision.objects.in_project(project_id).filter(superseded_by_id__in=successors)
        ids = list(superseded.order_by("pk").values_list("pk", flat=True))
        return [*DECISIONS.read(project_id, ids).values()]

    def part_from_successor(
        self, project_id: int, agent_id: int | None, ids: Sequence[int], at: datetime
    ) -> Sequence[DecisionChange]:
        """Clear `superseded_by` of decisions; return the changes to record."""
        kept = [*DECISIONS.read(project_id, ids).values()]
        Decision.objects.in_project(project_id).filter(pk__in=ids).update(superseded_by=None)
        return self.also_changed(project_id, agent_id, kept, at)

    def also_changed(
        self, project_id: int, agent_id: int | None, kept: Sequence[DecisionRow], at: datetime
    ) -> Sequence[DecisionChange]:
        """Record that the database cleared `superseded_by`; some of the rows may be deleted as well."""
        rows = DECISIONS.read(project_id, [row.id for row in kept])
        if not rows:
            return []
        changed = [
            replace(row, agent_id=agent_id or row.agent_id, updated_at=at + timedelta(microseconds=offset))
            for offset, (_, row) in enumerate(sorted(rows.items()), start=1)
        ]
        upsert_decisions(project_id, changed)
        for links in DECISIONS.links.values():
            touch_links(links, [row.id for row in changed])
        old_rows = {row.id: row for row in kept}
        return [self.change(old_rows[row.id], row) for row in changed]


HISTORY = DecisionHistory()
