"""The rows of snapshots as dataclasses."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.rows import Computed, Derived, Row, Table
from ctxhub.core.search.documents import Document, named_word
from ctxhub.core.text.sentences import in_one_line, shortened
from memory.snapshots.models import ActionType, Snapshot, Tier


@frozen(kw_only=True)
class SnapshotRow(Row):
    """`touched_at` derives from the last access and the creation; dependencies are read apart.

    `cause`: kind and id of a cause that is no snapshot (decision:12), "" if there is none.
    """

    summary: str
    content: str = ""
    tokens: int = 0
    action_type: int = ActionType.CONVERSATION
    rationale: str = ""
    caused_by_id: int | None = None
    cause: str = ""
    tags: Sequence[str] = ()
    source: str = "unknown"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    session_id: int | None = None
    tier: int = Tier.ACTIVE
    access_count: int = 0
    last_accessed: datetime | None = None
    prediction_score: float | None = None
    temporal: float | None = None
    causal: float | None = None
    frequency: float | None = None
    reasons: Sequence[str] = ()
    predicted_next: datetime | None = None
    predicted_at: datetime | None = None

    @property
    def action_label(self) -> str:
        return str(ActionType(self.action_type).label)

    @property
    def touched_at(self) -> datetime:
        return self.last_accessed or self.created_at


# What it depends on by the first of its relationships. The sum keeps PostgreSQL from walking the ids.
CAUSE = """CASE WHEN d.caused_by_id IS NULL THEN (
    SELECT r.target_kind || ':' || r.target_id FROM memory_relationship r
    WHERE r.project_id = d.project_id AND r.source_kind = 'snapshot' AND r.source_id = d.id
    AND r.relation = 4 AND r.target_kind <> 'snapshot' ORDER BY r.id + 0 LIMIT 1) END"""

SNAPSHOTS = Table(
    Snapshot,
    SnapshotRow,
    derived={
        "touched_at": Derived(of=["last_accessed", "created_at"], value=lambda row: row.touched_at),
    },
    computed={"cause": Computed(CAUSE, lambda value: value or "")},
)

# The columns that lists read: no contents.
LISTED = (
    *("id", "summary", "action_type", "caused_by_id", "cause", "tags", "source", "agent"),
    *("created_at", "updated_at", "access_count", "last_accessed"),
)


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
