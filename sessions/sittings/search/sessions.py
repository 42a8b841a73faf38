"""The search document of a session."""

from ctxhub.core.search.documents import Document
from sessions.sittings.rows.sessions import INDEXED_CHARACTERS, SessionRow

TITLE_LENGTH = 500


def session_document(row: SessionRow) -> Document | None:
    """None for a session that was never saved: a restored one repeats the summary of its parent."""
    if row.saved_at is None:
        return None
    title, _, rest = row.summary.strip().partition("\n")
    summary = rest.strip() if len(title) <= TITLE_LENGTH else row.summary
    items = "\n\n".join(row.items)[:INDEXED_CHARACTERS]
    texts = (summary, row.active_project, row.branch, items, row.conversation)
    return Document(
        object_id=row.id,
        ref=f"session:{row.id}",
        title=title.strip()[:TITLE_LENGTH] or row.workspace_id,
        body="\n\n".join(text for text in texts if text),
        at=row.saved_at,
        agent_id=row.agent_id,
        unshown=(row.workspace_id, row.name),
    )
