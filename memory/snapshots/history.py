"""The history of snapshots: events, counters and index entries of every change."""

from dataclasses import replace

from ctxhub.core.history import History
from ctxhub.core.search.documents import Document
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.vocabulary.models import Tag
from memory.snapshots.rows import SNAPSHOTS, SnapshotRow, snapshot_document


class SnapshotHistory(History[SnapshotRow]):
    kind = "snapshot"
    table = SNAPSHOTS
    # Accesses, tiers and predictions are no changes of a snapshot.
    compared = (*("summary", "content", "action_type", "rationale", "tags", "source", "metadata"),)
    shown = {Tag: "tags"}

    def document(self, row: SnapshotRow) -> Document:
        return snapshot_document(row)

    def note(self, row: SnapshotRow) -> str:
        return row.action_label

    def recompute(self, row: SnapshotRow) -> SnapshotRow:
        return replace(row, tokens=count_tokens(row.content))


HISTORY = SnapshotHistory()
