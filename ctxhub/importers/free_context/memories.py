"""Imports memories into their contexts; digests are computed again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import CONTENT_BYTES
from ctxhub.core.kit.unset import if_set
from ctxhub.core.text.token_count import count_tokens
from ctxhub.importers.free_context.contexts import GENERAL, names_of, normalise_stack, parse_tags
from ctxhub.importers.free_context.reader import OldMemory
from ctxhub.importers.shared.batching import batches_by_size
from ctxhub.importers.shared.imported import IMPORTED_ID, Imported, add_new, as_id, clean_id
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.truncating import (
    Notes,
    normalise_choice,
    normalise_name,
    normalise_object,
    truncate_text,
)
from ctxhub.importers.shared.vocabulary import Vocabulary, Wanted
from memory.memories.history import HISTORY
from memory.memories.inputs import clean_memory
from memory.memories.models import TITLE_LENGTH
from memory.memories.rows import MEMORIES, MemoryRow, digest_of
from memory.models import Difficulty, Memory, MemoryType


@frozen
class NewMemory:
    """A memory to import. `context`: old id, empty if missing; `created_at`: None if the file has none."""

    old_id: str
    context: str
    row: MemoryRow
    created_at: datetime | None
    notes: Notes = field(default_factory=list)


def clean_memories(
    caller: Caller,
    old_memories: Iterable[OldMemory],
    contexts: Mapping[str, object],
    normaliser: Normaliser,
    at: datetime,
) -> dict[str, NewMemory]:
    """Validated memories by old id. `at` replaces an unknown time."""
    new: dict[str, NewMemory] = {}
    for old in old_memories:
        try:
            old_id = clean_id(old.id)
            add_new(new, old_id, _cleaned(caller, old_id, old, contexts, normaliser, at))
        except InvalidInput as error:
            normaliser.leave("memories", old.title or old.id, error)
    return new


def _cleaned(
    caller: Caller,
    old_id: str,
    old: OldMemory,
    contexts: Mapping[str, object],
    normaliser: Normaliser,
    at: datetime,
) -> NewMemory:
    notes: Notes = []
    context = as_id(old.context)
    if context not in contexts:
        notes.append(f"its context is not there, or is left: it is in {GENERAL}")
        context = ""
    kind = normalise_choice(old.type, MemoryType, "type", notes, otherwise=MemoryType.NOTE)
    fields = clean_memory(
        caller,
        title=normalise_name(old.title, "title", notes, at_most=TITLE_LENGTH),
        content=truncate_text(old.content, "content", notes, at_most=CONTENT_BYTES),
        stack=normalise_stack(old.stack, notes),
    )
    title, content = if_set(fields.title, ""), if_set(fields.content, "")
    row = MemoryRow(
        title=title,
        context="",
        context_id=0,
        digest=digest_of(title, content),
        tokens=count_tokens(title) + fields.content_tokens,
        type=kind or MemoryType.NOTE,
        agent="system",
        agent_id=None,
        created_at=old.created_at or old.updated_at or at,
        updated_at=old.updated_at or old.created_at or at,
        difficulty=normalise_choice(old.difficulty, Difficulty, "difficulty", notes, otherwise=None),
        stack=if_set(fields.stack, ""),
        tags=normaliser.words("tags", parse_tags(old.tags)),
        content=content,
        metadata=normalise_object(old.metadata, {IMPORTED_ID: old_id}, caller, notes),
    )
    return NewMemory(old_id, context, row, old.created_at, notes)


def choose_memories(
    project_id: int, cleaned: Mapping[str, NewMemory], report: Report
) -> tuple[list[NewMemory], dict[str, int]]:
    """Memories that are not stored yet, and the ids of stored ones by old id."""
    imported = Imported(project_id, Memory)
    chosen: list[NewMemory] = []
    existing: dict[str, int] = {}
    for new in cleaned.values():
        if (row_id := imported.find(new.old_id, new.created_at)) is not None:
            existing[new.old_id] = row_id
            report.found("memories")
        else:
            chosen.append(new)
            report.took("memories")
            for note in new.notes:
                report.changed("memories", new.row.title, note)
    return chosen, existing


def note_memories(chosen: Iterable[NewMemory], wanted: Wanted) -> None:
    for new in chosen:
        wanted.words["tags"] += new.row.tags


def write_memories(
    project_id: int,
    chosen: Sequence[NewMemory],
    contexts: Mapping[str, int],
    vocabulary: Vocabulary,
    at: datetime,
) -> dict[str, int]:
    """Write memories. Returns their ids by old id."""
    names = names_of(project_id, sorted({contexts[new.context] for new in chosen}))
    ids: dict[str, int] = {}
    for batch in batches_by_size(chosen, lambda new: len(new.row.content.encode())):
        rows = [_resolved(new.row, contexts[new.context], names, vocabulary) for new in batch]
        rows = MEMORIES.insert(project_id, rows, vocabulary)
        ids |= {new.old_id: row.id for new, row in zip(batch, rows, strict=True)}
        changes = [HISTORY.change(None, row) for row in rows]
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)
    return ids


def _resolved(row: MemoryRow, context_id: int, names: Mapping[int, str], vocabulary: Vocabulary) -> MemoryRow:
    tags = [vocabulary.spelled("tags", tag) for tag in row.tags]
    return replace(row, context_id=context_id, context=names[context_id], tags=tags)
