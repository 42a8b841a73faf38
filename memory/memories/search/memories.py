"""The search documents of memories and of their earlier states."""

from collections.abc import Sequence

from ctxhub.core.kit.sql import Reading
from ctxhub.core.search.documents import EARLIER, Document, earlier_text, named_word
from ctxhub.core.text.glob_syntax import not_exempting
from memory.memories.rows.memories import MemoryRow
from memory.memories.sql.revisions import Replaced, replaced_texts


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
