"""The history of contexts: events, counters and index entries of every change."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ctxhub.core.events.counters import CounterKey, counter_key
from ctxhub.core.history import Change, History
from ctxhub.core.search.documents import Document
from ctxhub.core.text.plurals import counted
from ctxhub.core.vocabulary.models import Tag
from memory.contexts.rows import CONTEXTS, ContextRow, count_again, ids_in


def context_document(row: ContextRow) -> Document:
    """Dated `changed_at`, which a write of one of its memories does not move."""
    return Document(
        object_id=row.id,
        ref=f"context:{row.id}",
        title=row.name,
        body="\n\n".join(line for line in (row.description, row.stack) if line),
        at=row.changed_at,
        tags=sorted(row.tags, key=str.casefold),
        agent_id=row.agent_id,
        context_id=row.id,
    )


class ContextHistory(History[ContextRow]):
    """Memories deleted with their context are subtracted from the counters here and get no events.

    The `detail` of a delete is the number of memories that were deleted before, in batches.
    """

    kind = "context"
    table = CONTEXTS
    compared = ("name", "description", "stack", "tags", "metadata")
    shown = {Tag: "tags"}

    def document(self, row: ContextRow) -> Document:
        return context_document(row)

    def note(self, row: ContextRow) -> str:
        return row.name

    def data(self, change: Change[ContextRow]) -> dict[str, Any]:
        if change.new is None:
            count = change.row.memory_count + (change.detail or 0)
            return {"note": f"{change.row.name}, with {counted(count, 'memories')}", "memories": count}
        return super().data(change)

    def count(self, changes: Sequence[Change[ContextRow]]) -> Counter[CounterKey]:
        counts = super().count(changes)
        counts[counter_key("memory")] -= sum(
            change.row.memory_count for change in changes if change.new is None
        )
        return counts

    def taken_along(self, project_id: int, ids: Sequence[int]) -> Mapping[str, Sequence[int]]:
        return {"memory": ids_in(ids)}

    def complete(self, old: ContextRow, new: ContextRow, at: datetime) -> ContextRow:
        """Set both times. `updated_at` also follows the writes of memories and never goes back."""
        changed_at = at if new.changed_at == old.changed_at else new.changed_at
        updated_at = new.updated_at if new.updated_at > old.updated_at else changed_at
        return replace(new, changed_at=changed_at, updated_at=updated_at)

    def after_save(self, row_id: int) -> None:
        """Recompute the count: a saved instance may hold an outdated one."""
        count_again(row_id)


HISTORY = ContextHistory()
