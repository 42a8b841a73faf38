"""The search document of a context."""

from ctxhub.core.search.documents import Document
from memory.memories.rows.contexts import ContextRow


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
