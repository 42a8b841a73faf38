"""Figures and log of contexts, for whoever writes through the ORM: an admin page, a shell."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver

from ctxhub.core import clock
from ctxhub.core.caller import current
from ctxhub.core.services.words import register_agent
from ctxhub.core.writing import join_queue, writing
from memory.models import Context, ContextTag
from memory.search.contexts import context_document
from memory.services.context_log import ContextChange, index_contexts, record_contexts
from memory.sql.context_rows import ContextRow, read_contexts
from memory.sql.context_writes import count_again, ids_in

# What a save may change; tags are changed beside it.
SAVED = ("name", "description", "stack", "metadata")
# What follows from a change, whatever the writer saved.
FOLLOWING = ("folded", "agent_id", "updated_at", "changed_at")


@receiver(pre_save, sender=Context)
def keep_what_was(instance: Context, raw: bool = False, **_: Any) -> None:
    """Remember the stored row; a change gets its times, a new one its author."""
    if raw:
        return
    old = _remember(instance)
    if old is None:
        _sign(instance)
    elif any(getattr(instance, name) != getattr(old, name) for name in SAVED):
        _note_the_time(instance, old)


@receiver(post_save, sender=Context)
def record_save(
    instance: Context, raw: bool = False, update_fields: Iterable[str] | None = None, **_: Any
) -> None:
    """Whoever saves a row that was read before may have an old count in it."""
    if raw:
        return
    if update_fields is not None:
        _save_what_follows(instance)
    count_again(instance.pk)
    _record(instance)


@receiver(m2m_changed, sender=ContextTag)
def record_words(instance: Any, action: str, pk_set: set[int] | None, **_: Any) -> None:
    """Tags added or removed, from either end, are a change of the context."""
    if action.startswith("pre_"):
        instance._ctxhub_contexts = list(_contexts(instance, pk_set))
        for context in instance._ctxhub_contexts:
            _remember(context)
        return
    for context in instance._ctxhub_contexts:
        old = _remembered(context)
        assert old is not None
        if ContextChange(old, _stored(context)).changed:
            _note_the_time(context, old)
            _save_what_follows(context)
            _record(context)


@receiver(pre_delete, sender=Context)
def keep_what_goes(instance: Context, origin: Any = None, **_: Any) -> None:
    if _is_meant(origin):
        _remember(instance)
        instance._ctxhub_memory_count = len(ids_in(instance.pk))  # type: ignore[attr-defined]


@receiver(post_delete, sender=Context)
def record_delete(instance: Context, origin: Any = None, **_: Any) -> None:
    if _is_meant(origin) and (old := _remembered(instance)):
        memories: int = instance._ctxhub_memory_count  # type: ignore[attr-defined]
        _write_record(instance, ContextChange(old, None, memories=memories))


def _is_meant(origin: Any) -> bool:
    """A context that goes with its whole project leaves no event: the log goes too."""
    return isinstance(origin, Context) or (isinstance(origin, QuerySet) and origin.model is Context)


def _contexts(instance: Any, pk_set: set[int] | None) -> Iterable[Context]:
    """The contexts whose words change: this one, or those named from a tag's end; None: all."""
    if isinstance(instance, Context):
        return [instance]
    contexts = Context.objects.in_project(instance.project_id)
    return contexts.filter(pk__in=instance.contexts.values("pk") if pk_set is None else pk_set)


def _note_the_time(context: Context, old: ContextRow) -> None:
    """Unless the writer names another."""
    if context.changed_at == old.changed_at:
        context.changed_at = clock.now()
    if context.updated_at <= old.updated_at:
        context.updated_at = context.changed_at


def _remember(context: Context) -> ContextRow | None:
    join_queue(context.project_id)
    stored = _stored(context) if context.pk else None
    context._ctxhub_was = stored  # type: ignore[attr-defined]
    return stored


def _remembered(context: Context) -> ContextRow | None:
    return getattr(context, "_ctxhub_was", None)


def _stored(context: Context) -> ContextRow | None:
    return read_contexts(context.project_id, [context.pk]).get(context.pk)


def _sign(context: Context) -> None:
    """Who acts is the author, unless the writer names another."""
    if (caller := current()) and context.agent_id is None:
        context.agent_id = register_agent(caller, clock.now())


def _save_what_follows(context: Context) -> None:
    stored = Context.objects.in_project(context.project_id).filter(pk=context.pk)
    stored.update(**{name: getattr(context, name) for name in FOLLOWING})


def _record(context: Context) -> None:
    change = ContextChange(_remembered(context), _stored(context))
    if change.old is None or change.changed:
        _write_record(context, change)
    elif change.new and context_document(change.old) != context_document(change.new):
        with writing(context.project_id):
            index_contexts(context.project_id, [change])


def _write_record(context: Context, change: ContextChange) -> None:
    at, caller = clock.now(), current()
    with writing(context.project_id):
        agent_id = register_agent(caller, at) if caller else None
        record_contexts(project_id=context.project_id, agent_id=agent_id, changes=[change], at=at)
