"""Search documents of file changes."""

from ctxhub.core.search.documents import Document
from tracking.sql.changes import ChangeRow


def change_document(change: ChangeRow) -> Document | None:
    """None without a description: it would say no more than the document of its file."""
    if not change.description:
        return None
    return Document(
        object_id=change.id,
        ref=f"change:{change.id}",
        title=change.path,
        body=change.description,
        at=change.at,
        agent_id=change.agent_id,
        layer_id=change.layer_id,
    )
