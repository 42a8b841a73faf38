"""States, figures, index and log of scratchpads, for whoever writes through the ORM."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver

from ctxhub.core import clock
from ctxhub.core.caller import current
from ctxhub.core.services.words import register_agent
from ctxhub.core.writing import join_queue, writing
from memory.models import PadChange, Scratchpad, Workflow
from memory.search.scratchpads import scratchpad_document
from memory.services.scratchpad_log import (
    ScratchpadChange,
    count_scratchpads,
    forget_texts,
    index_scratchpads,
    record_scratchpads,
)
from memory.sql.scratchpad_rows import PADS, WHOLE, PadRow
from memory.sql.scratchpad_states import insert_state, keep_content
from memory.sql.workflows import touch_workflow

# What a save may change.
SAVED = ("name", "workflow_id", "content")
# What follows from a change, whatever the writer saved.
FOLLOWING = ("length", "size", "revision", "agent_id", "updated_at")


@receiver(pre_save, sender=Scratchpad)
def keep_what_was(
    instance: Scratchpad, raw: bool = False, update_fields: Iterable[str] | None = None, **_: Any
) -> None:
    """Remember the stored row, and its text as a state if that changes. A change gets its time."""
    if raw:
        return
    old = _remember(instance)
    saved = [name for name in SAVED if update_fields is None or _is_among(name, update_fields)]
    changed = [name for name in saved if old is None or getattr(instance, name) != getattr(old, name)]
    if old is None:
        if (caller := current()) and instance.agent_id is None:
            instance.agent_id = register_agent(caller, clock.now())
    elif changed and instance.updated_at == old.updated_at:
        instance.updated_at = clock.now()
    if "content" in changed:
        instance.length, instance.size = len(instance.content), len(instance.content.encode())
        instance.revision = old.revision + 1 if old else 1
    instance._ctxhub_is_new_text = "content" in changed  # type: ignore[attr-defined]
    if old and "content" in changed:
        kept, dropped = keep_content(old.id)
        instance._ctxhub_kept = kept  # type: ignore[attr-defined]
        forget_texts(instance.project_id, dropped)


@receiver(post_save, sender=Scratchpad)
def record_save(
    instance: Scratchpad, raw: bool = False, update_fields: Iterable[str] | None = None, **_: Any
) -> None:
    if raw:
        return
    if update_fields is not None:
        stored = Scratchpad.objects.in_project(instance.project_id).filter(pk=instance.pk)
        stored.update(**{name: getattr(instance, name) for name in FOLLOWING})
    _record(instance)


@receiver(pre_delete, sender=Scratchpad)
def keep_what_goes(instance: Scratchpad, origin: Any = None, **_: Any) -> None:
    if _is_meant(origin, Scratchpad):
        _remember(instance)


@receiver(post_delete, sender=Scratchpad)
def record_delete(instance: Scratchpad, origin: Any = None, **_: Any) -> None:
    """One that goes with its workflow is told of by that; with its whole project, not at all."""
    if _is_meant(origin, Scratchpad) and (old := _remembered(instance)):
        _write_record(instance, ScratchpadChange(old, None))
    elif _is_meant(origin, Workflow):
        with writing(instance.project_id):
            count_scratchpads(instance.project_id, -1)


def _is_among(name: str, fields: Iterable[str]) -> bool:
    return bool({name, name.removesuffix("_id")} & {*fields})


def _is_meant(origin: Any, model: type[Scratchpad] | type[Workflow]) -> bool:
    return isinstance(origin, model) or (isinstance(origin, QuerySet) and origin.model is model)


def _remember(pad: Scratchpad) -> PadRow | None:
    join_queue(pad.project_id)
    stored = _stored(pad) if pad.pk else None
    pad._ctxhub_was = stored  # type: ignore[attr-defined]
    return stored


def _remembered(pad: Scratchpad) -> PadRow | None:
    return getattr(pad, "_ctxhub_was", None)


def _stored(pad: Scratchpad) -> PadRow | None:
    return PADS.read(pad.project_id, [pad.pk], WHOLE).get(pad.pk)


def _record(pad: Scratchpad) -> None:
    old, new = _remembered(pad), _stored(pad)
    assert new is not None
    is_new_text = pad._ctxhub_is_new_text  # type: ignore[attr-defined]
    how = (PadChange.REPLACED if old else PadChange.CREATED) if is_new_text else None
    kept = pad.__dict__.pop("_ctxhub_kept", None)
    change = ScratchpadChange(old, new, how, kept)
    if old is None or change.changed:
        _write_record(pad, change)
    elif scratchpad_document(old) != scratchpad_document(new):
        with writing(pad.project_id):
            index_scratchpads(pad.project_id, [change])


def _write_record(pad: Scratchpad, change: ScratchpadChange) -> None:
    at = clock.now()
    caller = current()
    with writing(pad.project_id):
        agent_id = register_agent(caller, at) if caller else None
        if change.new and change.how:
            dropped = insert_state(pad.project_id, change.new, change.how, agent_id or change.new.agent_id)
            forget_texts(pad.project_id, dropped)
        for workflow_id in {row.workflow_id for row in (change.old, change.new) if row}:
            touch_workflow(workflow_id, at)
        record_scratchpads(project_id=pad.project_id, agent_id=agent_id, changes=[change], at=at)
