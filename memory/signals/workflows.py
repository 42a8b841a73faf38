"""Figures, index and log of workflows, for whoever writes through the ORM: an admin page, a shell."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver

from ctxhub.core import clock
from ctxhub.core.caller import current
from ctxhub.core.services.words import register_agent
from ctxhub.core.writing import join_queue, writing
from memory.models import Workflow
from memory.search.workflows import workflow_document
from memory.services.workflow_log import WorkflowChange, index_workflows, record_workflows
from memory.sql.workflow_rows import WorkflowRow, is_kept, read_workflows

# What a save may change.
SAVED = ("name", "metadata", "is_active")
# What follows from a change, whatever the writer saved.
FOLLOWING = ("is_kept", "agent_id", "updated_at")


@receiver(pre_save, sender=Workflow)
def keep_what_was(instance: Workflow, raw: bool = False, **_: Any) -> None:
    """Remember the stored row; a change gets its time, a new one its author."""
    if raw:
        return
    old = _remember(instance)
    if old is None:
        if (caller := current()) and instance.agent_id is None:
            instance.agent_id = register_agent(caller, clock.now())
    elif instance.updated_at == old.updated_at and any(
        getattr(instance, name) != getattr(old, name) for name in SAVED
    ):
        instance.updated_at = clock.now()
    instance.is_kept = is_kept(instance.metadata)


@receiver(post_save, sender=Workflow)
def record_save(
    instance: Workflow, raw: bool = False, update_fields: Iterable[str] | None = None, **_: Any
) -> None:
    if raw:
        return
    if update_fields is not None:
        stored = Workflow.objects.in_project(instance.project_id).filter(pk=instance.pk)
        stored.update(**{name: getattr(instance, name) for name in FOLLOWING})
    change = WorkflowChange(_remembered(instance), _stored(instance))
    if change.old is None or change.changed:
        _write_record(instance, change)
    elif change.new and workflow_document(change.old) != workflow_document(change.new):
        with writing(instance.project_id):
            index_workflows(instance.project_id, [change])


@receiver(pre_delete, sender=Workflow)
def keep_what_goes(instance: Workflow, origin: Any = None, **_: Any) -> None:
    if _is_meant(origin):
        _remember(instance)


@receiver(post_delete, sender=Workflow)
def record_delete(instance: Workflow, origin: Any = None, **_: Any) -> None:
    if _is_meant(origin) and (old := _remembered(instance)):
        _write_record(instance, WorkflowChange(old, None))


def _is_meant(origin: Any) -> bool:
    """A workflow that goes with its whole project leaves no event: the log goes too."""
    return isinstance(origin, Workflow) or (isinstance(origin, QuerySet) and origin.model is Workflow)


def _remember(workflow: Workflow) -> WorkflowRow | None:
    join_queue(workflow.project_id)
    stored = _stored(workflow) if workflow.pk else None
    workflow._ctxhub_was = stored  # type: ignore[attr-defined]
    return stored


def _remembered(workflow: Workflow) -> WorkflowRow | None:
    return getattr(workflow, "_ctxhub_was", None)


def _stored(workflow: Workflow) -> WorkflowRow | None:
    return read_workflows(workflow.project_id, [workflow.pk]).get(workflow.pk)


def _write_record(workflow: Workflow, change: WorkflowChange) -> None:
    at = clock.now()
    caller = current()
    with writing(workflow.project_id):
        agent_id = register_agent(caller, at) if caller else None
        record_workflows(project_id=workflow.project_id, agent_id=agent_id, changes=[change], at=at)
