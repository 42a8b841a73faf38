"""The history of scratchpads: states, events and index entries of every change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ctxhub.core.history import NONE, Change, History
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.sql import Reading, unrecorded_reads
from ctxhub.core.search import index
from ctxhub.core.search.documents import EARLIER, Document, earlier_text
from ctxhub.core.search.index import forget, index_again, index_growth
from memory.scratchpads.models import PadChange
from memory.scratchpads.revisions import KeptText, insert_states, keep_content, replaced_ids, replaced_texts
from memory.scratchpads.rows import PADS, WITH_CONTENT, PadRow, read_content_from
from memory.workflows.rows import touch_workflows


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


VERBS = {PadChange.APPENDED: "appended", PadChange.RESTORED: "restored"}


@frozen
class PadEdit:
    """How a pad's text was changed, as the detail of a change; `how` is None if the text is unchanged.

    `added`: the number of appended characters; the existing text was not read. `kept`: the row with the
    former text.
    """

    how: PadChange | None
    added: int = 0
    kept: KeptText | None = None


class ScratchpadHistory(History[PadRow]):
    kind = "scratchpad"
    table = PADS
    compared = ("name", "workflow_id", "content")
    own_fields = ("revision",)
    # Without the columns that only appends need.
    read_for_documents = WITH_CONTENT

    def change(
        self, old: PadRow | None, new: PadRow | None, reason: str = "", detail: PadEdit | None = None
    ) -> Change[PadRow]:
        edit = detail or PadEdit(PadChange.CREATED if old is None else None)
        return super().change(old, new, reason, edit)

    def restoring(self, row: PadRow) -> Change[PadRow]:
        """Its states come back with it: none is stored."""
        return replace(self.change(None, row, detail=PadEdit(None)), is_restored=True)

    def document(self, row: PadRow) -> Document:
        return scratchpad_document(row)

    def earlier_document(self, state: KeptText, old: PadRow, new: PadRow) -> Document | None:
        return earlier_scratchpad_document(new.id, new.name, state, old.content, new.content)

    def verb(self, change: Change[PadRow]) -> str:
        return VERBS.get(change.detail.how, "updated")

    def data(self, change: Change[PadRow]) -> dict[str, Any]:
        data: dict[str, Any] = {"note": change.row.name, "workflow": change.row.workflow_id}
        return {**data, "changed": change.changed} if change.verb == "updated" else data

    def recompute(self, row: PadRow) -> PadRow:
        return replace(row, length=len(row.content), size=len(row.content.encode()))

    def complete(self, old: PadRow, new: PadRow, at: datetime) -> PadRow:
        """A changed text gets the next revision."""
        new = replace(new, revision=old.revision + (new.content != old.content))
        return super().complete(old, new, at)

    def before_save(self, project_id: int, old: PadRow, new: PadRow) -> PadEdit | None:
        return self.overwrite(project_id, old, PadChange.REPLACED) if new.content != old.content else None

    def overwrite(self, project_id: int, old: PadRow, how: PadChange) -> PadEdit:
        """Store the current text of a pad before it is overwritten."""
        kept, dropped = keep_content(old.id)
        forget(project_id, "scratchpad_revision", dropped)
        return PadEdit(how, kept=kept)

    def before_record(
        self, project_id: int, agent_id: int | None, changes: Sequence[Change[PadRow]], at: datetime
    ) -> Mapping[int, KeptText]:
        """Store the current states of the pads and touch their workflows."""
        written = [(change.new, how) for change in changes if change.new and (how := change.detail.how)]
        forget(project_id, "scratchpad_revision", insert_states(project_id, agent_id, written))
        self.touch(changes, at)
        return {change.row.id: kept for change in changes if (kept := change.detail.kept)}

    def touch(self, changes: Sequence[Change[PadRow]], at: datetime) -> None:
        """Touch the workflows of the pads, also one that a pad was moved out of."""
        touch_workflows({row.workflow_id for c in changes for row in (c.old, c.new) if row}, at)

    def index(
        self, project_id: int, changes: Sequence[Change[PadRow]], states: Mapping[int, Any] = NONE
    ) -> None:
        """Index only the end of an appended text. A rename also updates the entries of earlier states."""
        for change in changes:
            if change.detail.added:
                _index_growth(project_id, change.row, change.detail.added)
        if others := [change for change in changes if not change.detail.added]:
            super().index(project_id, others, states)
        if renamed := [c.row.id for c in changes if c.old and c.old.name != c.row.name]:
            index_again(project_id, "scratchpad_revision", replaced_ids(project_id, renamed))


HISTORY = ScratchpadHistory()


def prepare_growth(project_id: int, old: PadRow, new: PadRow, added: str) -> None:
    """Read and analyse before the lock what is indexed of an appended text."""
    document = scratchpad_document(replace(new, content=""))
    with unrecorded_reads():
        index.prepare_growth(
            project_id,
            "scratchpad",
            document,
            len(added),
            lambda start: read_content_from(old.id, start) + added,
        )


def _index_growth(project_id: int, row: PadRow, added: int) -> None:
    document = scratchpad_document(replace(row, content=""))
    index_growth(project_id, "scratchpad", document, added, lambda start: read_content_from(row.id, start))
