"""Records every change of a constraint: search document, counters and event."""

from collections.abc import Sequence
from typing import Any

from ctxhub.core.history import Change, History
from ctxhub.core.paths.bearing import EVERYWHERE
from ctxhub.core.search.documents import Document
from ctxhub.core.vocabulary.models import Category, Scope, Tag
from memory.constraints.models import ConstraintStatus
from memory.constraints.rows import CONSTRAINTS, ConstraintRow
from memory.constraints.search import constraint_document


class ConstraintHistory(History[ConstraintRow]):
    kind = "constraint"
    table = CONSTRAINTS
    compared = ("category", "text", "priority", "layer", "tags", "scopes", "paths", "reason", "status")
    counted_by = ("layer_id", "status")
    is_given_to_writers = True
    has_paths = True
    shown = {Category: "category", Tag: "tags", Scope: "scopes"}

    def patterns(self, row: ConstraintRow) -> Sequence[str]:
        """A constraint without layer, scopes and paths holds everywhere, an inactive one nowhere."""
        if row.status != ConstraintStatus.ACTIVE:
            return ()
        return row.paths or ([] if row.layer_id or row.scopes else [EVERYWHERE])

    def document(self, row: ConstraintRow) -> Document:
        return constraint_document(row)

    def note(self, row: ConstraintRow) -> str:
        return f"{row.category}, {row.priority_label}"

    def verb(self, change: Change[ConstraintRow]) -> str:
        if "status" not in change.changed:
            return "updated"
        return "activated" if change.row.status == ConstraintStatus.ACTIVE else "deactivated"

    def data(self, change: Change[ConstraintRow]) -> dict[str, Any]:
        data = {} if change.changed == ["status"] else super().data(change)
        return {**data, "priority": change.row.priority_label}


HISTORY = ConstraintHistory()
