"""Figures, counts and log of memories, for whoever writes through the ORM: an admin page, a shell."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver

from ctxhub.core import clock
from ctxhub.core.caller import current
from ctxhub.core.services.words import register_agent
from ctxhub.core.writing import join_queue, writing
from memory.models import Memory, MemoryTag
from memory.search.memories import memory_document
from memory.services.memory_digest import digest_of, tokens_of
from memory.services.memory_log import MemoryChange, index_memories, record_memories
from memory.sql.memory_rows import MemoryRow, read_memories
from memory.sql.memory_writes import touch_tags

# What a save may change; tags are changed beside it.
SAVED = ("context_id", "title", "content", "type", "difficulty", "stack", "paths", "metadata")
# What follows from a change, whatever the writer saved.
FOLLOWING = ("digest", "tokens", "folded_stack", "agent_id", "updated_at")


@receiver(pre_save, sender=Memory)
def keep_what_was(instance: Memory, raw: bool = False, **_: Any) -> None:
    """Remember the stored row; a change gets its time, a new one its author."""
    if raw:
        return
    old = _remember(instance)
    if old is None:
        _sign(instance)
    elif instance.updated_at == old.updated_at and any(
        getattr(instance, name) != getattr(old, name) for name in SAVED
    ):
        instance.updated_at = clock.now()
    instance.digest = digest_of(instance.title, instance.content)
    instance.tokens = tokens_of(instance.title, instance.content)
    instance.folded_stack = instance.stack.casefold()


@receiver(post_save, sender=Memory)
def record_save(
    instance: Memory, raw: bool = False, update_fields: Iterable[str] | None = None, **_: Any
) -> None:
    if raw:
        return
    if update_fields is not None:
        _save_what_follows(instance)
    _record(instance)


@receiver(m2m_changed, sender=MemoryTag)
def record_words(instance: Any, action: str, pk_set: set[int] | None, **_: Any) -> None:
    """Tags added or removed, from either end, are a change of the memory."""
    if action.startswith("pre_"):
        instance._ctxhub_memories = list(_memories(instance, pk_set))
        for memory in instance._ctxhub_memories:
            _remember(memory)
        return
    for memory in instance._ctxhub_memories:
        if MemoryChange(_remembered(memory), _stored(memory)).changed:
            memory.updated_at = clock.now()
            _save_what_follows(memory)
            _record(memory)


@receiver(pre_delete, sender=Memory)
def keep_what_goes(instance: Memory, origin: Any = None, **_: Any) -> None:
    if _is_meant(origin):
        _remember(instance)


@receiver(post_delete, sender=Memory)
def record_delete(instance: Memory, origin: Any = None, **_: Any) -> None:
    if _is_meant(origin) and (old := _remembered(instance)):
        _write_record(instance, MemoryChange(old, None))


def _is_meant(origin: Any) -> bool:
    """What goes with its context is counted there; with the whole project, the log goes too."""
    return isinstance(origin, Memory) or (isinstance(origin, QuerySet) and origin.model is Memory)


def _memories(instance: Any, pk_set: set[int] | None) -> Iterable[Memory]:
    """The memories whose words change: this one, or those named from a tag's end; None: all."""
    if isinstance(instance, Memory):
        return [instance]
    memories = Memory.objects.in_project(instance.project_id)
    return memories.filter(pk__in=instance.memories.values("pk") if pk_set is None else pk_set)


def _remember(memory: Memory) -> MemoryRow | None:
    join_queue(memory.project_id)
    stored = _stored(memory) if memory.pk else None
    memory._ctxhub_was = stored  # type: ignore[attr-defined]
    return stored


def _remembered(memory: Memory) -> MemoryRow | None:
    return getattr(memory, "_ctxhub_was", None)


def _stored(memory: Memory) -> MemoryRow | None:
    return read_memories(memory.project_id, [memory.pk]).get(memory.pk)


def _sign(memory: Memory) -> None:
    """Who acts is the author, unless the writer names another."""
    if (caller := current()) and memory.agent_id is None:
        memory.agent_id = register_agent(caller, clock.now())


def _save_what_follows(memory: Memory) -> None:
    stored = Memory.objects.in_project(memory.project_id).filter(pk=memory.pk)
    stored.update(**{name: getattr(memory, name) for name in FOLLOWING})


def _record(memory: Memory) -> None:
    change = MemoryChange(_remembered(memory), _stored(memory))
    touch_tags(memory.pk)
    if change.old is None or change.changed:
        _write_record(memory, change)
    elif change.new and memory_document(change.old) != memory_document(change.new):
        with writing(memory.project_id):
            index_memories(memory.project_id, [change])


def _write_record(memory: Memory, change: MemoryChange) -> None:
    at, caller = clock.now(), current()
    with writing(memory.project_id):
        agent_id = register_agent(caller, at) if caller else None
        record_memories(project_id=memory.project_id, agent_id=agent_id, changes=[change], at=at)
