"""The history of memories: revisions, events, counters and index entries of every change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ctxhub.core.history import NONE, Change, History
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.search.documents import Document
from ctxhub.core.search.services.index import forget, index_again
from ctxhub.core.vocabulary.models import Tag
from memory.memories.rows.contexts import touch_contexts
from memory.memories.rows.memories import MEMORIES, MemoryRow
from memory.memories.rules.digest import digest_of, tokens_of
from memory.memories.search.memories import earlier_memory_document, memory_document
from memory.memories.sql.revisions import KeptText, Replaced, drop_old_states, insert_states, replaced_ids

REVISIONS = "memory_revision"


class MemoryHistory(History[MemoryRow]):
    """The `detail` of a change is the number of the revision that it restores, or None."""

    kind = "memory"
    table = MEMORIES
    compared = (*("title", "content", "context", "type", "stack", "difficulty", "tags", "paths", "metadata"),)
    is_given_to_writers = True
    has_paths = True
    own_fields = ("revision",)
    shown = {Tag: "tags"}

    def version(self, row: MemoryRow) -> str:
        return str(row.revision)

    def document(self, row: MemoryRow) -> Document:
        return memory_document(row)

    def earlier_document(self, state: KeptText, old: MemoryRow, new: MemoryRow) -> Document | None:
        texts = (old.title, old.content, new.title, new.content)
        return earlier_memory_document(Replaced(new.id, state, *texts), new)

    def note(self, row: MemoryRow) -> str:
        return f"{row.type_label} in {row.context}"

    def verb(self, change: Change[MemoryRow]) -> str:
        return "restored" if change.detail else "updated"

    def data(self, change: Change[MemoryRow]) -> dict[str, Any]:
        return super().data(change) | ({"revision": change.detail} if change.detail else {})

    def recompute(self, row: MemoryRow) -> MemoryRow:
        return replace(
            row, digest=digest_of(row.title, row.content), tokens=tokens_of(row.title, row.content)
        )

    def complete(self, old: MemoryRow, new: MemoryRow, at: datetime) -> MemoryRow:
        """A changed title or content is the next revision."""
        return super().complete(old, replace(new, revision=old.revision_with(new.title, new.content)), at)

    def before_record(
        self, project_id: int, agent_id: int | None, changes: Sequence[Change[MemoryRow]], at: datetime
    ) -> Mapping[int, KeptText]:
        """Store the former titles and contents, and update the count and the time of each context.

        Also touches the context of a memory that only changed.
        """
        differences: dict[int, int] = {}
        for change in changes:
            for row, by in ((change.old, -1), (change.new, 1)):
                if row:
                    differences[row.context_id] = differences.get(row.context_id, 0) + by
        touch_contexts(differences, at)
        reworded = [(c.old, c.new) for c in changes if c.old and c.new and c.new.revision > c.old.revision]
        forget(project_id, REVISIONS, drop_old_states(project_id, [new for _, new in reworded]))
        return insert_states(project_id, agent_id, reworded)

    def index(
        self, project_id: int, changes: Sequence[Change[MemoryRow]], states: Mapping[int, Any] = NONE
    ) -> None:
        """Earlier states are indexed again if the filters that find the memory have changed."""
        super().index(project_id, changes, states)
        moved = [c.row.id for c in changes if c.row.revision > 1 and _is_found_otherwise(c)]
        if moved:
            index_again(project_id, REVISIONS, replaced_ids(project_id, moved))


def _is_found_otherwise(change: Change[MemoryRow]) -> bool:
    return not {"context", "type", "stack", "tags"}.isdisjoint(change.changed)


HISTORY = MemoryHistory()


def revisions_showing(word: NamedRow) -> list[int]:
    """The ids of the earlier states whose documents contain the name of a word of their memory."""
    memories = HISTORY.showing(word)
    return replaced_ids(word.project_id, memories) if memories else []
