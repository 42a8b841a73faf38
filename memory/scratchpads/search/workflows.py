"""The search document of a workflow."""

from ctxhub.core.search.documents import Document
from ctxhub.core.text.readable import as_lines
from memory.scratchpads.rows.workflows import WorkflowRow


def workflow_document(row: WorkflowRow) -> Document:
    """Dated `created_at`: `updated_at` moves with every write to a pad, which has its own document."""
    return Document(
        object_id=row.id,
        ref=f"workflow:{row.id}",
        title=row.name or f"workflow {row.id}",
        body="\n".join(as_lines(row.metadata)),
        at=row.created_at,
        agent_id=row.agent_id,
        mark="" if row.is_active else "closed",
    )
