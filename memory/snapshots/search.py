"""The search document of a snapshot."""

from ctxhub.core.search.documents import Document, named_word
from ctxhub.core.text.sentences import in_one_line, shortened
from memory.snapshots.rows import SnapshotRow

# The title is indexed with each passage: of a longer summary it is the beginning.
TITLE_CHARACTERS = 500


def snapshot_document(row: SnapshotRow) -> Document:
    title = in_one_line(row.summary)
    is_long = len(title) > TITLE_CHARACTERS
    texts = (row.summary if is_long else "", row.rationale, row.content)
    body = "\n\n".join(filter(None, texts))
    return Document(
        object_id=row.id,
        ref=f"snapshot:{row.id}",
        title=shortened(title, TITLE_CHARACTERS) if is_long else title,
        body=body,
        at=row.created_at,
        tags=sorted(row.tags, key=str.casefold),
        agent_id=row.agent_id,
        also=[action_word(row.action_type)],
        readable=(len(body) - len(row.content), len(body)),
    )


def action_word(action_type: int) -> str:
    """The index term that limits a search to snapshots of an action type."""
    return named_word("X", f"action {action_type}")
