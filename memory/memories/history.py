"""The history of memories: revisions, events, counters and index entries of every change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ctxhub.core.history import NONE, Change, History
from ctxhub.core.kit.models import NamedRow
from ctxhub.core.kit.sql import Reading
from ctxhub.core.search.documents import EARLIER, Document, earlier_text, named_word
from ctxhub.core.search.index import forget, index_again
from ctxhub.core.text.glob_syntax import not_exempting
from ctxhub.core.vocabulary.models import Tag
from memory.contexts.rows import touch_contexts
from memory.memories.revisions import (
    KeptText,
    Replaced,
    drop_old_states,
    insert_states,
    replaced_ids,
    replaced_texts,
)
from memory.memories.rows import MEMORIES, MemoryRow, digest_of, tokens_of


def memory_document(row: MemoryRow) -> Document:
    return Document(
        object_id=row.id,
        ref=f"memory:{row.id}",
        title=row.title,
        body=row.content,
        at=row.updated_at,
        tags=sorted(row.tags, key=str.casefold),
        agent_id=row.agent_id,
        context_id=row.context_id,
        also=filter_words(row),
        unshown=(row.stack, ", ".join(not_exempting(row.paths))),
        version=str(row.revision),
        readable=(0, len(row.content)),
    )


def earlier_memory_document(state: Replaced, row: MemoryRow) -> Document | None:
    """The document of the title and the lines that a change removed; None if it removed nothing.

    It is found by the filters that find the memory now.
    """
    removed = earlier_text(state.content, state.next_content)
    if not removed and state.title == state.next_title:
        return None
    return Document(
        object_id=state.kept.id,
        ref=f"memory:{row.id}",
        title=state.title,
        body=removed,
        at=state.kept.at,
        tags=sorted(row.tags, key=str.casefold),
        agent_id=state.kept.agent_id,
        context_id=row.context_id,
        mark=f"was revision {state.kept.number}",
        also=[EARLIER, *filter_words(row)],
        owner_id=row.id,
        now=f"revision {row.revision}",
    )


def earlier_memory_documents(project_id: int, ids: Sequence[int]) -> Reading[Sequence[Document]]:
    return replaced_texts(project_id, ids).then(
        lambda states: [document for each in states if (document := earlier_memory_document(*each))]
    )


def filter_words(row: MemoryRow) -> list[str]:
    return [type_word(row.type), *([stack_word(row.stack)] if row.stack else [])]


def type_word(memory_type: int) -> str:
    """The index term that limits a search to memories of a type."""
    return f"Y{memory_type}"


def stack_word(stack: str) -> str:
    """The index term that limits a search to memories of a stack."""
    return named_word("B", stack.casefold())


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
