"""What every change of a context leaves behind, whoever wrote it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from ctxhub.core.services.events import Change, record
from ctxhub.core.services.search_index import index_documents
from ctxhub.core.services.tallies import Place, place, tally
from memory.search.contexts import context_document
from memory.sql.context_rows import ContextRow


@dataclass(frozen=True)
class ContextChange:
    """What a context was (None: new) and is (None: deleted, with so many `memories`)."""

    old: ContextRow | None
    new: ContextRow | None
    memories: int = 0

    @property
    def row(self) -> ContextRow:
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

    @property
    def event(self) -> Change:
        data: dict[str, Any] = (
            {"changed": self.changed} if self.verb == "updated" else {"note": self.row.name}
        )
        if self.new is None:
            data = {"note": f"{self.row.name}, with {self.memories} memories", "memories": self.memories}
        return Change("context", self.verb, f"context:{self.row.id}", data)


def record_contexts(
    *, project_id: int, agent_id: int | None, changes: Sequence[ContextChange], at: datetime
) -> None:
    """Write figures, the index and events, as the last statements of the transaction.

    What a deleted one takes with it leaves the figures here, and no event of its own.
    """
    tally(project_id, figures_of(changes))
    index_contexts(project_id, changes)
    record(project_id=project_id, agent_id=agent_id, changes=[change.event for change in changes], at=at)


def figures_of(changes: Sequence[ContextChange]) -> Counter[Place]:
    """By how much they change the figures: a context takes its memories with it."""
    created = sum(change.old is None for change in changes)
    deleted = sum(change.new is None for change in changes)
    memories = sum(change.memories for change in changes if change.new is None)
    return Counter({place("context"): created - deleted, place("memory"): -memories})


def index_contexts(project_id: int, changes: Sequence[ContextChange]) -> None:
    documents = [context_document(change.new) for change in changes if change.new]
    are_new = all(change.old is None for change in changes)
    index_documents(project_id, "context", documents, are_new=are_new)


def _spoken(row: ContextRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "description": row.description,
        "stack": row.stack,
        "tags": sorted(name.casefold() for name in row.tags),
        "metadata": dict(row.metadata),
    }
