"""The search documents of scratchpads and of their earlier states."""

from collections.abc import Sequence

from ctxhub.core.kit.sql import Reading
from ctxhub.core.search.documents import EARLIER, Document, earlier_text
from memory.scratchpads.rows.scratchpads import PadRow
from memory.scratchpads.sql.revisions import KeptText, replaced_texts


def scratchpad_document(row: PadRow) -> Document:
    return Document(
        object_id=row.id,
        ref=f"scratchpad:{row.id}",
        title=row.name,
        body=row.content,
        at=row.updated_at,
        agent_id=row.agent_id,
        also=[workflow_word(row.workflow_id)],
        readable=(0, len(row.content)),
    )


def earlier_scratchpad_document(
    pad_id: int, name: str, kept: KeptText, before: str, after: str, revision: int = 0
) -> Document | None:
    """The document of the text that a change removed from a pad; None if it removed none.

    `revision`: that of the pad now, for answers; it is not indexed.
    """
    if not (removed := earlier_text(before, after)):
        return None
    return Document(
        object_id=kept.id,
        ref=f"scratchpad:{pad_id}",
        title=name,
        body=removed,
        at=kept.at,
        agent_id=kept.agent_id,
        mark=f"was revision {kept.number}",
        also=[EARLIER],
        owner_id=pad_id,
        now=f"revision {revision}",
    )


def earlier_scratchpad_documents(project_id: int, ids: Sequence[int]) -> Reading[Sequence[Document]]:
    return replaced_texts(project_id, ids).then(_documents)


def _documents(states: Sequence[tuple[int, str, KeptText, str, str, int]]) -> list[Document]:
    documents = (earlier_scratchpad_document(*state) for state in states)
    return [document for document in documents if document]


def workflow_word(workflow_id: int) -> str:
    """The index term that limits a search to the pads of a workflow."""
    return f"F{workflow_id}"
