"""Records every change of a constraint: search document, counters and event."""

from collections.abc import Sequence
from typing import Any

from django.db.models.signals import post_save
from django.dispatch import receiver

from ctxhub.core.history import Change, History
from ctxhub.core.paths.bearing import EVERYWHERE
from ctxhub.core.search.documents import Document
from ctxhub.core.text.glob_syntax import not_exempting
from ctxhub.core.vocabulary.models import Category, Scope, Tag
from memory.constraints.models import ConstraintStatus, title_of
from memory.constraints.rows import CONSTRAINTS, ConstraintRow, update_ranks


def constraint_document(row: ConstraintRow) -> Document:
    return Document(
        object_id=row.id,
        ref=f"constraint:{row.id}",
        title=row.category,
        body="\n\n".join(line for line in (row.text, row.reason) if line),
        at=row.updated_at,
        tags=sorted(row.tags, key=str.casefold),
        agent_id=row.agent_id,
        layer_id=row.layer_id,
        readable=(0, len(row.text)),
        mark="" if row.status == ConstraintStatus.ACTIVE else row.status_label,
        unshown=(", ".join(sorted(row.scopes, key=str.casefold)), ", ".join(not_exempting(row.paths))),
    )


def title_of_hit(document: Document) -> str:
    """What a page calls a constraint that a search has found; the document's title is its category."""
    start, end = document.readable
    return title_of(document.body[start:end])


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


@receiver(post_save, sender=Category)
def update_constraint_ranks(instance: Category, created: bool = False, **_: Any) -> None:
    if not created:
        update_ranks(instance.pk, instance.folded)
