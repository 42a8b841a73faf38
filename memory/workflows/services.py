"""Creates, changes, closes, deletes and cleans up workflows."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal

from django.db.models import F

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.emptying import Contents, delete_containers, emptied_before, sizes_of
from ctxhub.core.events.cleanup import in_words
from ctxhub.core.events.counters import add_to_counters, counter_key
from ctxhub.core.events.log import Change, record
from ctxhub.core.history import Change as HistoryChange
from ctxhub.core.kit import clock
from ctxhub.core.kit.batches import BYTES_AT_ONCE, in_batches
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.deletes import delete_rows
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.inputs import clean_name, clean_object, merge_object, refuse_secret
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.core.registry import refuse_ref_as_title
from ctxhub.core.search.index import forget
from ctxhub.core.text.plurals import counted
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.argument_types import Time
from memory.scratchpads.models import Scratchpad
from memory.workflows.history import HISTORY
from memory.workflows.models import Workflow
from memory.workflows.queries import get_workflow, unknown_workflow
from memory.workflows.rows import WORKFLOWS, WorkflowRow, idle_workflows, pads_of_workflows, touch_workflows

# Most workflows and bytes that one cleanup deletes, so that no write waits long for it.
CLEANED_AT_ONCE = 20
CLEANED_BYTES = BYTES_AT_ONCE
PADS_OF_WORKFLOW = Contents(
    kind="scratchpad",
    plural="scratchpads",
    model=Scratchpad,
    container="workflow_id",
    size=F("size"),
    touch=lambda workflow_id, _, at: touch_workflows([workflow_id], at),
)


class CreateWorkflowAnswer(TypedDict):
    workflow_id: int
    created_at: Time


class WorkflowAnswer(TypedDict):
    workflow_id: int
    active: bool
    result: Literal["updated", "unchanged"]


class DeletedWorkflow(TypedDict):
    deleted: str
    scratchpads: int


# -- Services --------------------------------------------------------------------------------------


def create_workflow(
    *, caller: Caller, name: str | None = None, metadata: Mapping[str, Any] | None = None
) -> CreateWorkflowAnswer:
    """Create a workflow. `metadata.keep` = "never" exempts it from the cleanup."""
    name = _clean_name(name, caller)
    refuse_ref_as_title(name, "workflow")
    metadata = merge_object({}, clean_object(metadata, "metadata", caller))
    with write_transaction(caller.project_id):
        at = clock.now()
        agent_id = register_agent(caller, at)
        row = WorkflowRow(
            name=name,
            metadata=metadata,
            agent=caller.agent,
            agent_id=agent_id,
            created_at=at,
            updated_at=at,
        )
        [stored] = WORKFLOWS.insert(caller.project_id, [row])
        _record(caller, agent_id, HISTORY.change(None, stored), at)
    return CreateWorkflowAnswer(workflow_id=stored.id, created_at=format_time(at))


def update_workflow(
    *,
    caller: Caller,
    workflow_id: int,
    name: str | None | Unset = UNSET,
    metadata: Mapping[str, Any] | None | Unset = UNSET,
    active: bool | None | Unset = UNSET,
) -> WorkflowAnswer:
    """Change the given fields. Metadata merges by key: null removes a key; `metadata=None` removes all."""
    new_name = UNSET if isinstance(name, Unset) else _clean_name(name, caller)
    if not isinstance(metadata, Unset):
        clean_object(metadata, "metadata", caller)
    with write_transaction(caller.project_id):
        old = get_workflow(caller.project_id, workflow_id)
        if not isinstance(new_name, Unset) and new_name != old.name:
            refuse_ref_as_title(new_name, "workflow")
        merged = _merged(caller, old.metadata, metadata)
        return _change(
            caller,
            old,
            replace(
                old,
                name=if_set(new_name, old.name),
                metadata=merged,
                is_active=old.is_active if active is None else if_set(active, old.is_active),
            ),
        )


def replace_workflow(
    *,
    caller: Caller,
    workflow_id: int,
    name: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    active: bool = True,
) -> WorkflowAnswer:
    """Make a workflow what is given and nothing else: else it has no name, no metadata, and is open."""
    name = _clean_name(name, caller)
    metadata = merge_object({}, clean_object(metadata, "metadata", caller))
    with write_transaction(caller.project_id):
        old = get_workflow(caller.project_id, workflow_id)
        if name != old.name:
            refuse_ref_as_title(name, "workflow")
        return _change(caller, old, replace(old, name=name, metadata=metadata, is_active=active))


def close_workflow(*, caller: Caller, workflow_id: int, reopen: bool = False) -> WorkflowAnswer:
    """Make its pads read-only, or writable again with `reopen`."""
    with write_transaction(caller.project_id):
        old = get_workflow(caller.project_id, workflow_id)
        return _change(caller, old, replace(old, is_active=reopen))


def delete_workflow(*, caller: Caller, workflow_id: int) -> DeletedWorkflow:
    """Delete a workflow, open or closed, with all its pads and their revisions.

    Many pads are deleted in batches, the workflow last: a call that was cut off can be repeated.
    """
    return in_batches(partial(_delete_workflow, caller, workflow_id))


def find_deletable_workflows(caller: Caller, ids: Sequence[str]) -> Mapping[str, WorkflowRow | NotFound]:
    """The workflow of each id, or the error for an unknown one."""
    return WORKFLOWS.read_named(caller.project_id, ids, unknown_workflow)


def delete_workflows(caller: Caller, rows: Sequence[WorkflowRow]) -> None:
    """Delete workflows that were read in the open transaction, which `in_batches` surrounds."""
    delete_containers(caller, rows, history=HISTORY, contents=PADS_OF_WORKFLOW)


def pads_along(rows: Sequence[WorkflowRow]) -> Mapping[int, str]:
    """What is deleted with workflows, in words."""
    return {row.id: f"with {counted(count, 'scratchpads')}" for row in rows if (count := _count_pads(row))}


def sizes_of_workflows(rows: Sequence[WorkflowRow]) -> Mapping[int, int]:
    """How many bytes the pads of workflows have."""
    return sizes_of(PADS_OF_WORKFLOW, [row.id for row in rows])


def clean_workflows(project_id: int, now: datetime, days: int) -> dict[str, int]:
    """Delete a batch of the workflows idle for so many days; return the numbers deleted.

    Workflows with `is_kept` stay; 0 days keeps all. Called inside the project's transaction.
    """
    if not days:
        return {}
    expired = _batch(idle_workflows(project_id, now - timedelta(days=days), CLEANED_AT_ONCE))
    if not expired:
        return {}
    pads = len(_delete(project_id, expired))
    add_to_counters(
        project_id, Counter({counter_key("workflow"): -len(expired), counter_key("scratchpad"): -pads})
    )
    deleted = {name: n for name, n in (("workflows", len(expired)), ("scratchpads", pads)) if n}
    change = Change("hub", "cleaned", "hub:cleanup", {**deleted, "note": in_words(deleted)})
    record(project_id=project_id, agent_id=None, changes=[change], at=now)
    return deleted


# -- Pieces ----------------------------------------------------------------------------------------


def _delete_workflow(caller: Caller, workflow_id: int) -> DeletedWorkflow:
    with write_transaction(caller.project_id):
        row = get_workflow(caller.project_id, workflow_id)
        delete_workflows(caller, [row])
    return DeletedWorkflow(deleted=f"workflow:{row.id}", scratchpads=_count_pads(row))


def _count_pads(row: WorkflowRow) -> int:
    """How many pads a workflow has, those included that this call has deleted in batches."""
    return row.pads + emptied_before(HISTORY, row, PADS_OF_WORKFLOW)


def _clean_name(name: str | None, caller: Caller) -> str:
    """The name, which may be blank."""
    if name is None or not name.strip():
        return ""
    cleaned = clean_name(name, "name")
    refuse_secret(cleaned, "name", caller)
    return cleaned


def _merged(
    caller: Caller, stored: Mapping[str, Any], changes: Mapping[str, Any] | None | Unset
) -> dict[str, Any]:
    if isinstance(changes, Unset):
        return dict(stored)
    return clean_object(merge_object(stored, changes) if changes is not None else {}, "metadata", caller)


def _change(caller: Caller, old: WorkflowRow, new: WorkflowRow) -> WorkflowAnswer:
    change = HISTORY.change(old, new)
    if change.changed:
        at = clock.now()
        new = replace(new, updated_at=at)
        WORKFLOWS.update(caller.project_id, old, new)
        _record(caller, register_agent(caller, at), HISTORY.change(old, new), at)
    return WorkflowAnswer(
        workflow_id=new.id, active=new.is_active, result="updated" if change.changed else "unchanged"
    )


def _record(caller: Caller, agent_id: int, change: HistoryChange[WorkflowRow], at: datetime) -> None:
    HISTORY.record(project_id=caller.project_id, agent_id=agent_id, changes=[change], at=at)


def _batch(idle: list[tuple[int, int]]) -> list[int]:
    """The first ids with at most CLEANED_BYTES in total, but at least one."""
    chosen: list[int] = []
    total = 0
    for row_id, size in idle:
        total += size
        if chosen and total > CLEANED_BYTES:
            break
        chosen.append(row_id)
    return chosen


def _delete(project_id: int, ids: list[int]) -> list[int]:
    """Delete the workflows and return the ids of their pads."""
    pads = pads_of_workflows(ids)
    forget(project_id, "scratchpad", pads)
    forget(project_id, "workflow", ids)
    delete_rows(Workflow, ids)
    return pads
