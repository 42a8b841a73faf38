"""The history of memories: events, counters and index entries of every change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ctxhub.core.history import Change, History
from ctxhub.core.search.documents import Document
from ctxhub.core.vocabulary.models import Tag
from memory.memories.rows.contexts import touch_contexts
from memory.memories.rows.memories import MEMORIES, MemoryRow
from memory.memories.rules.digest import digest_of, tokens_of
from memory.memories.search.memories import memory_document


class MemoryHistory(History[MemoryRow]):
    kind = "memory"
    table = MEMORIES
    compared = (*("title", "content", "context", "type", "stack", "difficulty", "tags", "paths", "metadata"),)
    shown = {Tag: "tags"}

    def document(self, row: MemoryRow) -> Document:
        return memory_document(row)

    def note(self, row: MemoryRow) -> str:
        return f"{row.type_label} in {row.context}"

    def recompute(self, row: MemoryRow) -> MemoryRow:
        return replace(
            row, digest=digest_of(row.title, row.content), tokens=tokens_of(row.title, row.content)
        )

    def before_record(
        self, project_id: int, agent_id: int | None, changes: Sequence[Change[MemoryRow]], at: datetime
    ) -> Mapping[int, int]:
        """Update the count and the time of each context, also of one whose memory only changed."""
        differences: dict[int, int] = {}
        for change in changes:
            for row, by in ((change.old, -1), (change.new, 1)):
                if row:
                    differences[row.context_id] = differences.get(row.context_id, 0) + by
        touch_contexts(differences, at)
        return {}


HISTORY = MemoryHistory()
