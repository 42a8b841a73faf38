"""The search document of a snapshot."""

from ctxhub.core.search.documents import Document, named_word
from memory.snapshots.rows import SnapshotRow


def snapshot_document(row: SnapshotRow) -> Document:
    return Document(
        object_id=row.id,
        ref=f"snapshot:{row.id}",
        title=row.summary,
        body="\n\n".join(text for text in (row.rationale, row.content) if text),
        at=row.created_at,
        tags=sorted(row.tags, key=str.casefold),
        agent_id=row.agent_id,
        also=[action_word(row.action_type)],
        unshown=(row.source,),
    )


def action_word(action_type: int) -> str:
    """The index term that limits a search to snapshots of an action type."""
    return named_word("X", f"action {action_type}")
