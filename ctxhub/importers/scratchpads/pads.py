"""Old scratchpads become scratchpads, each in its workflow, with one state: what it is."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ctxhub.core.history import Change
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import CONTENT_BYTES, clean_text
from ctxhub.importers.scratchpads.reader import OldPad
from ctxhub.importers.scratchpads.workflows import NewWorkflow
from ctxhub.importers.shared.batching import batches, light_batches
from ctxhub.importers.shared.imported import as_id
from ctxhub.importers.shared.normalising import Fitting
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.truncating import Notes, cleaned_name, fit_text
from memory.models import Scratchpad
from memory.scratchpads.history.scratchpads import ScratchpadHistory
from memory.scratchpads.rows.scratchpads import PADS, PadRow
from memory.scratchpads.services.scratchpads import PADS_IN_WORKFLOW


class ImportedHistory(ScratchpadHistory):
    """Workflows that come with their pads keep the times that they come with."""

    def touch(self, changes: Sequence[Change[PadRow]], at: datetime) -> None:
        pass


HISTORY = ImportedHistory()


@dataclass(frozen=True, slots=True)
class NewPad:
    """`workflow` is the old id; `created_at` None where the file does not say when it was begun."""

    workflow: str
    row: PadRow
    created_at: datetime | None
    notes: Notes = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Here:
    """A pad that a workflow has here."""

    created_at: datetime
    length: int
    size: int


def clean_pads(
    caller: Caller, olds: Iterable[OldPad], workflows: Mapping[str, NewWorkflow], fit: Fitting
) -> list[NewPad]:
    new = []
    for old in olds:
        try:
            new.append(_cleaned(caller, old, workflows))
        except InvalidInput as error:
            fit.leave("scratchpads", old.name, error)
    # One of which nothing but the name is known is compared last: the others know which they are.
    return sorted(new, key=lambda pad: pad.created_at is None)


def _cleaned(caller: Caller, old: OldPad, workflows: Mapping[str, NewWorkflow]) -> NewPad:
    workflow = workflows.get(as_id(old.workflow))
    if workflow is None:
        raise InvalidInput("its workflow is not there, or is left.")
    notes: Notes = []
    content = fit_text(old.content, "content", notes, at_most=CONTENT_BYTES)
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
    project_id: int, cleaned: Sequence[NewPad], here: Mapping[str, int], report: Report
) -> list[NewPad]:
    """Those that their workflow does not have here, as long as it has room."""
    stored, counts = _stored(project_id, sorted(here.values()))
    rooms = Counter({old_id: PADS_IN_WORKFLOW - counts[row_id] for old_id, row_id in here.items()})
    chosen = []
    for new in cleaned:
        known = _taken_out(stored[here.get(new.workflow, 0), new.row.name], new)
        if known is not None and (known.length, known.size) == (new.row.length, new.row.size):
            report.found("scratchpads")
        elif known is not None:
            report.left("scratchpads", new.row.name, "it stands here with another text")
        elif rooms.setdefault(new.workflow, PADS_IN_WORKFLOW) <= 0:
            report.left("scratchpads", new.row.name, f"more than {PADS_IN_WORKFLOW} in one workflow")
        else:
            rooms[new.workflow] -= 1
            chosen.append(new)
            report.took("scratchpads")
            for note in new.notes:
                report.changed("scratchpads", new.row.name, note)
    return chosen


def _stored(
    project_id: int, workflow_ids: Sequence[int]
) -> tuple[dict[tuple[int, str], list[Here]], Counter[int]]:
    """The pads here by workflow and name, and how many each workflow has."""
    found: dict[tuple[int, str], list[Here]] = defaultdict(list)
    counts: Counter[int] = Counter()
    for ids in batches(workflow_ids):
        pads = Scratchpad.objects.in_project(project_id).filter(workflow__in=ids).order_by("pk")
        for workflow, name, created_at, length, size in pads.values_list(
            "workflow", "name", "created_at", "length", "size"
        ):
            found[workflow, name].append(Here(created_at, length, size))
            counts[workflow] += 1
    return found, counts


def _taken_out(pads: list[Here], new: NewPad) -> Here | None:
    """The pad that this is; each is one only."""
    for place, pad in enumerate(pads):
        if new.created_at in (None, pad.created_at):
            return pads.pop(place)
    return None


def write_pads(project_id: int, chosen: Sequence[NewPad], ids: Mapping[str, int], at: datetime) -> None:
    for batch in light_batches(chosen, lambda new: new.row.size):
        rows = [replace(new.row, workflow_id=ids[new.workflow]) for new in batch]
        changes = [HISTORY.change(None, row) for row in PADS.insert(project_id, rows)]
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)
