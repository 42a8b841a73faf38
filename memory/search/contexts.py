"""What contexts are found by."""

from collections.abc import Sequence

from ctxhub.core.models import Tag
from ctxhub.core.models.base import NamedRow
from ctxhub.core.search.documents import Document
from ctxhub.core.search.words_shown import Fields, ids_showing
from memory.models import Context
from memory.sql.context_rows import ContextRow, read_contexts

SHOWN: Fields = {Tag: "tags"}


def context_document(row: ContextRow) -> Document:
    """A write of one of its memories is none of the context itself."""
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


def read_context_documents(project_id: int, ids: Sequence[int]) -> list[Document]:
    return [context_document(row) for row in read_contexts(project_id, ids).values()]


def contexts_showing(word: NamedRow) -> list[int]:
    return ids_showing(Context, word, SHOWN)
