"""Imports scratchpads into their workflows, with their current text only."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime

from ctxhub.core.history import Change
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import CONTENT_BYTES, clean_text
from ctxhub.importers.scratchpads.reader import OldPad
from ctxhub.importers.scratchpads.workflows import NewWorkflow
from ctxhub.importers.shared.batching import batches, batches_by_size
from ctxhub.importers.shared.imported import as_id
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.truncating import Notes, cleaned_name, truncate_text
from memory.models import Scratchpad
from memory.scratchpads.history import ScratchpadHistory
from memory.scratchpads.rows import PADS, PadRow
from memory.scratchpads.services import PADS_IN_WORKFLOW


class ImportedHistory(ScratchpadHistory):
    """A ScratchpadHistory that does not touch workflows: imported ones keep their times."""

    def touch(self, changes: Sequence[Change[PadRow]], at: datetime) -> None:
        pass


HISTORY = ImportedHistory()


@frozen
class NewPad:
    """A scratchpad to import. `workflow`: old id; `created_at`: None if the file has none."""

    workflow: str
    row: PadRow
    created_at: datetime | None
    notes: Notes = field(default_factory=list)


@frozen
class StoredPad:
    """What identifies a stored pad of a workflow and name."""

    created_at: datetime
    length: int
    size: int


def clean_pads(
    caller: Caller, old_pads: Iterable[OldPad], workflows: Mapping[str, NewWorkflow], normaliser: Normaliser
) -> list[NewPad]:
    new = []
    for old in old_pads:
        try:
            new.append(_cleaned(caller, old, workflows))
        except InvalidInput as error:
            normaliser.leave("scratchpads", old.name, error)
    # Pads without a time match any stored pad of their name, so they are matched last.
    return sorted(new, key=lambda pad: pad.created_at is None)


def _cleaned(caller: Caller, old: OldPad, workflows: Mapping[str, NewWorkflow]) -> NewPad:
    workflow = workflows.get(as_id(old.workflow))
    if workflow is None:
        raise InvalidInput("its workflow is not there, or is left.")
    notes: Notes = []
    content = truncate_text(old.content, "content", notes, at_most=CONTENT_BYTES)
    clean_text(content, "content", caller, at_most=CONTENT_BYTES)
    created_at = old.created_at or old.updated_at or workflow.row.created_at
    row = PadRow(
        name=cleaned_name(caller, old.name, notes),
        length=len(content),
        size=len(content.encode()),
        created_at=created_at,
        updated_at=old.updated_at or created_at,
        is_active=workflow.row.is_active,
        content=content,
    )
    return NewPad(workflow.old_id, row, old.created_at, notes)


def choose_pads(
    project_id: int, cleaned: Sequence[NewPad], existing: Mapping[str, int], report: Report
) -> list[NewPad]:
    """Select pads that their workflow does not have yet, up to PADS_IN_WORKFLOW in each workflow."""
    stored, counts = _stored(project_id, sorted(existing.values()))
    free_slots = Counter({old_id: PADS_IN_WORKFLOW - counts[row_id] for old_id, row_id in existing.items()})
    chosen = []
    for new in cleaned:
        stored_pad = _pop_match(stored[existing.get(new.workflow, 0), new.row.name], new)
        if stored_pad is not None and (stored_pad.length, stored_pad.size) == (new.row.length, new.row.size):
            report.found("scratchpads")
        elif stored_pad is not None:
            report.left("scratchpads", new.row.name, "it stands here with another text")
        elif free_slots.setdefault(new.workflow, PADS_IN_WORKFLOW) <= 0:
            report.left("scratchpads", new.row.name, f"more than {PADS_IN_WORKFLOW} in one workflow")
        else:
            free_slots[new.workflow] -= 1
            chosen.append(new)
            report.took("scratchpads")
            for note in new.notes:
                report.changed("scratchpads", new.row.name, note)
    return chosen


def _stored(
    project_id: int, workflow_ids: Sequence[int]
) -> tuple[dict[tuple[int, str], list[StoredPad]], Counter[int]]:
    """Stored pads by workflow and name, and the number of pads of each workflow."""
    found: dict[tuple[int, str], list[StoredPad]] = defaultdict(list)
    counts: Counter[int] = Counter()
    for ids in batches(workflow_ids):
        pads = Scratchpad.objects.in_project(project_id).filter(workflow__in=ids).order_by("pk")
        for workflow, name, created_at, length, size in pads.values_list(
            "workflow", "name", "created_at", "length", "size"
        ):
            found[workflow, name].append(StoredPad(created_at, length, size))
            counts[workflow] += 1
    return found, counts


def _pop_match(pads: list[StoredPad], new: NewPad) -> StoredPad | None:
    """Remove and return the stored pad that equals this one, so that each matches once."""
    for index, pad in enumerate(pads):
        if new.created_at in (None, pad.created_at):
            return pads.pop(index)
    return None


def write_pads(project_id: int, chosen: Sequence[NewPad], ids: Mapping[str, int], at: datetime) -> None:
    for batch in batches_by_size(chosen, lambda new: new.row.size):
        rows = [replace(new.row, workflow_id=ids[new.workflow]) for new in batch]
        changes = [HISTORY.change(None, row) for row in PADS.insert(project_id, rows)]
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)
