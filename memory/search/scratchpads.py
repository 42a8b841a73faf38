"""What scratchpads are found by."""

from collections.abc import Sequence

from ctxhub.core.search.documents import Document
from memory.sql.scratchpad_rows import PadRow, read_scratchpads


def scratchpad_document(row: PadRow) -> Document:
    return Document(
        object_id=row.id,
        ref=f"scratchpad:{row.id}",
        title=row.name,
        body=row.content,
        at=row.updated_at,
        agent_id=row.agent_id,
        also=[workflow_word(row.workflow_id)],
    )


def read_scratchpad_documents(project_id: int, ids: Sequence[int]) -> list[Document]:
    return [scratchpad_document(row) for row in read_scratchpads(project_id, ids).values()]


def workflow_word(workflow_id: int) -> str:
    """The word of the scope by which a search narrows to the pads of a workflow."""
    return f"F{workflow_id}"
