"""What contexts, memories and relationships are in an export."""

from collections.abc import Sequence

from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, Part, Values, register
from ctxhub.core.transfer.words import folded_name
from memory.contexts.models import Context
from memory.contexts.rows import count_again
from memory.memories.models import Memory, MemoryRevision
from memory.memories.rows import digest_of, tokens_of
from memory.relationships.models import Relationship


def _context_derived(values: Values) -> Values:
    return {**folded_name(values), "memory_count": 0}


def _count_memories(project_id: int, ids: Sequence[int]) -> None:
    for context_id in ids:
        count_again(context_id)


def _memory_derived(values: Values) -> Values:
    title, content = values["title"], values["content"]
    return {
        "digest": digest_of(title, content),
        "tokens": tokens_of(title, content),
        "folded_stack": values["stack"].casefold(),
    }


register(
    Exported(
        Context,
        derived=("folded", "memory_count"),
        derive=_context_derived,
        linked=("description",),
        cleaners={"metadata": cleaners.object_},
        kind="context",
        natural=("folded",),
        loose=("updated_at",),
        finish=_count_memories,
    ),
    Exported(
        Memory,
        derived=("digest", "tokens", "folded_stack"),
        derive=_memory_derived,
        linked=("content",),
        cleaners={"paths": cleaners.globs, "metadata": cleaners.object_},
        kind="memory",
        parts=(Part(MemoryRevision, name="revisions", owner="memory_id", order=("number",)),),
    ),
    Exported(
        Relationship,
        points={"source": ("source_kind", "source_id"), "target": ("target_kind", "target_id")},
        kind="relationship",
        natural=("source_kind", "source_id", "target_kind", "target_id", "relation"),
    ),
)
