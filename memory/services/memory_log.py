"""What every change of memories leaves behind, whoever wrote it: figures, the index and events."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from ctxhub.core.history import Change as HistoryChange
from ctxhub.core.services.events import Change, record
from ctxhub.core.services.search_index import index_documents
from ctxhub.core.services.tallies import place, tally
from memory.search.memories import memory_document
from memory.services.context_history import HISTORY as CONTEXT_HISTORY
from memory.sql.contexts import ContextRow, touch_contexts
from memory.sql.memory_rows import MemoryRow


@dataclass(frozen=True)
class MemoryChange:
    """What a memory was (None: new) and is (None: deleted)."""

    old: MemoryRow | None
    new: MemoryRow | None

    @property
    def row(self) -> MemoryRow:
        """The memory as it is, or last was."""
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
        return "created" if self.old is None else "deleted" if self.new is None else "updated"


def record_memories(
    *,
    project_id: int,
    agent_id: int | None,
    changes: Sequence[MemoryChange],
    at: datetime,
    contexts: Sequence[HistoryChange[ContextRow]] = (),
) -> None:
    """Write figures, the contexts' counts, the index and events, as the last statements of the transaction.

    All rows carry the ids that they are stored under, and their words as the project writes them.
    `contexts`: those that were made for them.
    """
    figures = CONTEXT_HISTORY.count(contexts)
    figures[place("memory")] += sum(_differences(changes).values())
    tally(project_id, figures)
    CONTEXT_HISTORY.index(project_id, contexts)
    touch_contexts(_differences(changes), at)
    index_memories(project_id, changes)
    events = [CONTEXT_HISTORY.event(change, at) for change in contexts]
    events += [_event(change) for change in changes]
    record(project_id=project_id, agent_id=agent_id, changes=events, at=at)


def index_memories(project_id: int, changes: Sequence[MemoryChange]) -> None:
    """Those that go are forgotten as every row is that Django deletes."""
    documents = [memory_document(change.new) for change in changes if change.new]
    are_new = all(change.old is None for change in changes)
    index_documents(project_id, "memory", documents, are_new=are_new)


def _differences(changes: Sequence[MemoryChange]) -> dict[int, int]:
    """How many memories each context has more, also those of which one only changed."""
    found: dict[int, int] = {}
    for change in changes:
        for row, by in ((change.old, -1), (change.new, 1)):
            if row:
                found[row.context_id] = found.get(row.context_id, 0) + by
    return found


def _event(change: MemoryChange) -> Change:
    """Never the text: it may be deleted because it should not have been written."""
    row = change.row
    data: dict[str, Any] = {"changed": change.changed}
    if change.old is None or change.new is None:
        data = {"note": f"{row.spoken_type} in {row.context}"}
    return Change("memory", change.verb, f"memory:{row.id}", data)


def _spoken(row: MemoryRow) -> dict[str, Any]:
    return {
        "title": row.title,
        "content": row.content,
        "context": row.context_id,
        "type": row.type,
        "stack": row.stack,
        "difficulty": row.difficulty,
        "tags": sorted(name.casefold() for name in row.tags),
        "paths": list(row.paths),
        "metadata": dict(row.metadata),
    }
