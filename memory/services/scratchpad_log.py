"""What every change of scratchpads leaves behind, whoever wrote it: figures, the index and an event."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ctxhub.core.search.documents import Document
from ctxhub.core.services.events import Change, record
from ctxhub.core.services.search_index import forget, index_again, index_documents, index_growth
from ctxhub.core.services.tallies import place, tally
from memory.models import PadChange
from memory.search.scratchpads import earlier_scratchpad_document, scratchpad_document
from memory.sql.scratchpad_rows import PadRow, read_content_from
from memory.sql.scratchpad_states import KeptText, replaced_ids


@dataclass(frozen=True)
class ScratchpadChange:
    """What a scratchpad was (None: new) and is (None: deleted), and how it came to be so.

    `how` None: what differs is not its text. `kept`: the row that keeps the text that it had.
    """

    old: PadRow | None
    new: PadRow | None
    how: PadChange | None = None
    kept: KeptText | None = None

    @property
    def row(self) -> PadRow:
        """The scratchpad as it is, or last was."""
        row = self.new or self.old
        assert row is not None
        return row

    @property
    def changed(self) -> list[str]:
        """The names of what differs."""
        if self.old is None or self.new is None:
            return []
        differs = {
            "name": self.old.name != self.new.name,
            "workflow_id": self.old.workflow_id != self.new.workflow_id,
            "content": self.how is not None,
        }
        return [name for name, is_so in differs.items() if is_so]

    @property
    def verb(self) -> str:
        if self.old is None:
            return "created"
        if self.new is None:
            return "deleted"
        spoken = {PadChange.APPENDED: "appended", PadChange.RESTORED: "restored"}
        return spoken.get(self.how, "updated") if self.how else "updated"


def record_scratchpads(
    *, project_id: int, agent_id: int | None, changes: Sequence[ScratchpadChange], at: datetime
) -> None:
    """Write figures, the index and events, as the last statements of the transaction.

    All rows carry their text and the ids that they are stored under.
    """
    added = sum((change.new is not None) - (change.old is not None) for change in changes)
    count_scratchpads(project_id, added)
    index_scratchpads(project_id, changes)
    record(project_id=project_id, agent_id=agent_id, changes=[_event(change) for change in changes], at=at)


def record_append(*, project_id: int, agent_id: int | None, new: PadRow, added: int, at: datetime) -> None:
    """The same for a pad that has `added` characters more at its end, whose text nobody has read."""
    document = scratchpad_document(replace(new, content=""))
    index_growth(project_id, "scratchpad", document, added, lambda start: read_content_from(new.id, start))
    change = _event(ScratchpadChange(new, new, PadChange.APPENDED))
    record(project_id=project_id, agent_id=agent_id, changes=[change], at=at)


def count_scratchpads(project_id: int, by: int) -> None:
    tally(project_id, Counter({place("scratchpad"): by}))


def index_scratchpads(project_id: int, changes: Sequence[ScratchpadChange]) -> None:
    """Those that go are forgotten where they are deleted."""
    documents = [scratchpad_document(change.new) for change in changes if change.new]
    are_new = all(change.old is None for change in changes)
    earlier = [document for change in changes if (document := _what_was(change))]
    index_documents(project_id, "scratchpad", documents, are_new=are_new, earlier=earlier)
    if renamed := [change.row.id for change in changes if "name" in change.changed]:
        index_again(project_id, "scratchpad_revision", replaced_ids(project_id, renamed))


def forget_texts(project_id: int, dropped: Sequence[int]) -> None:
    """Those that were kept in rows that are gone."""
    forget(project_id, "scratchpad_revision", dropped)


def _what_was(change: ScratchpadChange) -> Document | None:
    if not (change.kept and change.old and change.new):
        return None
    return earlier_scratchpad_document(
        change.new.id, change.new.name, change.kept, change.old.content, change.new.content
    )


def _event(change: ScratchpadChange) -> Change:
    """Never the text: it may be deleted because it should not have been written."""
    row = change.row
    data: dict[str, Any] = {"note": row.name, "workflow": row.workflow_id}
    if change.verb == "updated":
        data["changed"] = change.changed
    return Change("scratchpad", change.verb, f"scratchpad:{row.id}", data)
