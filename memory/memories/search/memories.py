"""The search document of a memory."""

from ctxhub.core.search.documents import Document, named_word
from memory.memories.rows.memories import MemoryRow


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
        also=[type_word(row.type), *([stack_word(row.stack)] if row.stack else [])],
        unshown=(row.stack, ", ".join(row.paths)),
    )


def type_word(memory_type: int) -> str:
    """The index term that limits a search to memories of a type."""
    return f"Y{memory_type}"


def stack_word(stack: str) -> str:
    """The index term that limits a search to memories of a stack."""
    return named_word("B", stack.casefold())
