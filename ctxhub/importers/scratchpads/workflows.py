"""Imports workflows; those that the next cleanup would remove are marked to be kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta

from ctxhub.core.accounts.config import config_of
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.frozen import frozen
from ctxhub.importers.scratchpads.reader import OldPad, OldWorkflow
from ctxhub.importers.shared.batching import batches
from ctxhub.importers.shared.imported import IMPORTED_ID, Imported, add_new, as_id, clean_id
from ctxhub.importers.shared.normalising import Normaliser
from ctxhub.importers.shared.report import Report
from ctxhub.importers.shared.truncating import Notes, as_object, cleaned_name, normalise_object
from memory.models import Workflow
from memory.workflows.history import HISTORY
from memory.workflows.rows import WORKFLOWS, WorkflowRow, is_kept


@frozen
class NewWorkflow:
    """A workflow to import. `created_at`: None if the file has none."""

    old_id: str
    row: WorkflowRow
    created_at: datetime | None
    notes: Notes = field(default_factory=list)


def clean_workflows(
    caller: Caller,
    old_workflows: Iterable[OldWorkflow],
    pads: Iterable[OldPad],
    normaliser: Normaliser,
    at: datetime,
) -> dict[str, NewWorkflow]:
    """Validated workflows by old id. `at` replaces an unknown time."""
    last = _last_writes(pads)
    days = config_of(caller.project_id).scratchpad_days
    new: dict[str, NewWorkflow] = {}
    for old in old_workflows:
        try:
            old_id = clean_id(old.id)
            workflow = _cleaned(caller, old_id, old, last.get(old_id), at)
            add_new(new, old_id, _kept_from_cleanup(workflow, days, at))
        except InvalidInput as error:
            normaliser.leave("workflows", old.name or old.id, error)
    return new


def _last_writes(pads: Iterable[OldPad]) -> dict[str, datetime]:
    """Time of the last write to a pad, by old workflow id."""
    last: dict[str, datetime] = {}
    for pad in pads:
        moment = pad.updated_at or pad.created_at
        if moment is not None:
            workflow = as_id(pad.workflow)
            last[workflow] = max(moment, last.get(workflow, moment))
    return last


def _cleaned(
    caller: Caller, old_id: str, old: OldWorkflow, last: datetime | None, at: datetime
) -> NewWorkflow:
    notes: Notes = []
    known_times = [moment for moment in (old.updated_at, old.created_at, last) if moment]
    row = WorkflowRow(
        name=cleaned_name(caller, old.name, notes) if (old.name or "").strip() else "",
        created_at=old.created_at or min(known_times, default=at),
        updated_at=max(known_times, default=at),
        metadata=normalise_object(
            {**as_object(old.metadata), **old.extra}, {IMPORTED_ID: old_id}, caller, notes
        ),
        is_active=old.is_active,
    )
    return NewWorkflow(old_id, row, old.created_at, notes)


def _kept_from_cleanup(new: NewWorkflow, days: int, at: datetime) -> NewWorkflow:
    """Add metadata.keep to workflows older than scratchpad_days, so that an import loses nothing."""
    row = new.row
    if not days or is_kept(row.metadata) or row.updated_at >= at - timedelta(days=days):
        return new
    note = f"older than scratchpad_days ({days}): metadata.keep spares it until somebody removes that"
    metadata = {**row.metadata, "keep": "never"}
    return replace(new, row=replace(row, metadata=metadata), notes=[*new.notes, note])


def choose_workflows(
    project_id: int, cleaned: Mapping[str, NewWorkflow], report: Report
) -> tuple[list[NewWorkflow], dict[str, int]]:
    """Workflows that are not stored yet, and the ids of stored ones by old id."""
    imported = Imported(project_id, Workflow)
    chosen: list[NewWorkflow] = []
    existing: dict[str, int] = {}
    for new in cleaned.values():
        if (row_id := imported.find(new.old_id, new.created_at)) is not None:
            existing[new.old_id] = row_id
            report.found("workflows")
        else:
            chosen.append(new)
            report.took("workflows")
            for note in new.notes:
                report.changed("workflows", new.row.name or new.old_id, note)
    return chosen, existing


def write_workflows(project_id: int, chosen: Sequence[NewWorkflow], at: datetime) -> dict[str, int]:
    """Write workflows. Returns their ids by old id."""
    ids: dict[str, int] = {}
    for batch in batches(chosen):
        rows = WORKFLOWS.insert(project_id, [new.row for new in batch])
        ids |= {new.old_id: row.id for new, row in zip(batch, rows, strict=True)}
        changes = [HISTORY.change(None, row) for row in rows]
        HISTORY.record(project_id=project_id, agent_id=None, changes=changes, at=at)
    return ids
