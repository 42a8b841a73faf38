"""The log of templates, for whoever writes: the service, an admin page, an import, a shell."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.db.models.signals import post_delete, post_save, pre_save
from django.dispatch import receiver

from ctxhub.core import clock
from ctxhub.core.caller import current
from ctxhub.core.services.events import Change, record
from ctxhub.core.services.words import register_agent
from ctxhub.core.writing import join_queue, writing
from memory.models import DecisionTemplate

SAVED = ("name", "defaults", "require", "patterns")


@receiver(pre_save, sender=DecisionTemplate)
def keep_what_was(instance: DecisionTemplate, raw: bool = False, **_: Any) -> None:
    """Remember the stored row. A change gets its time and its author, unless the writer names others."""
    if raw:
        return
    join_queue(instance.project_id)
    old = DecisionTemplate.unscoped.filter(pk=instance.pk).first() if instance.pk else None
    changed = [name for name in SAVED if getattr(instance, name) != getattr(old, name, None)]
    instance._ctxhub_change = ("updated" if old else "created", changed)  # type: ignore[attr-defined]
    if changed:
        if old and instance.updated_at == old.updated_at:
            instance.updated_at = clock.now()
        if (caller := current()) and instance.agent_id == (old.agent_id if old else None):
            instance.agent_id = register_agent(caller, clock.now())


@receiver(post_save, sender=DecisionTemplate)
def record_save(
    instance: DecisionTemplate, raw: bool = False, update_fields: Iterable[str] | None = None, **_: Any
) -> None:
    if raw:
        return
    verb, changed = instance._ctxhub_change  # type: ignore[attr-defined]
    if update_fields is not None:
        stored = DecisionTemplate.objects.in_project(instance.project_id).filter(pk=instance.pk)
        follows = {name: getattr(instance, name) for name in ("folded", "agent_id", "updated_at")}
        stored.update(**follows)
    if changed:
        _record(instance, verb, {"changed": changed} if verb == "updated" else {})


@receiver(post_delete, sender=DecisionTemplate)
def record_delete(instance: DecisionTemplate, origin: Any = None, **_: Any) -> None:
    """One that goes with its whole project leaves no event: the log goes too."""
    if isinstance(origin, DecisionTemplate) or (
        isinstance(origin, QuerySet) and origin.model is DecisionTemplate
    ):
        _record(instance, "deleted", {})


def _record(template: DecisionTemplate, verb: str, data: dict[str, Any]) -> None:
    at, caller = clock.now(), current()
    with writing(template.project_id):
        agent_id = register_agent(caller, at) if caller else None
        change = Change("template", verb, template.ref, data)
        record(project_id=template.project_id, agent_id=agent_id, changes=[change], at=at)
