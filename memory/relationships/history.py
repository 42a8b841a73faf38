"""Records the events of relationships, also of ORM writes, and deletes them together with either end."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Literal

from django.db.models import QuerySet
from django.db.models.signals import post_delete, post_save, pre_save
from django.dispatch import receiver

from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import current
from ctxhub.core.kit.transactions import acquire_write_lock, write_transaction
from ctxhub.core.registry import standing_kind
from ctxhub.core.search.index import forgotten
from ctxhub.core.vocabulary.names import register_agent
from memory.relationships.models import Relation, Relationship
from memory.relationships.rows import delete_edges_of

Verb = Literal["created", "updated", "deleted"]


def record_relationships(
    *, project_id: int, agent_id: int | None, changes: Sequence[Change], at: datetime
) -> None:
    """Record events; call it last in the transaction. A relationship deleted with an end gets no event."""
    record(project_id=project_id, agent_id=agent_id, changes=changes, at=at)


def change_of(verb: Verb, row_id: int, source: str, target: str, relation: int, strength: int) -> Change:
    """The event of a change; `source` and `target` are refs."""
    note = f"{source} {Relation(relation).label} {target}, {strength}"
    return Change("relationship", verb, f"relationship:{row_id}", {"note": note})


SAVED = ("source_kind", "source_id", "target_kind", "target_id", "relation", "strength")
FOLLOWING = ("agent_id", "updated_at")


@receiver(forgotten)
def delete_with_an_end(project_id: int, kind: str, object_ids: Sequence[int], **_: Any) -> None:
    """Delete the relationships of deleted objects, however they were deleted. Earlier states have none."""
    if standing_kind(kind) == kind:
        delete_edges_of(project_id, kind, object_ids)


@receiver(pre_save, sender=Relationship)
def snapshot_before_save(
    instance: Relationship, raw: bool = False, update_fields: Collection[str] | None = None, **_: Any
) -> None:
    """Compare with the stored row and keep the verb. A change gets `updated_at`, a new row its author."""
    if raw:
        return
    acquire_write_lock(instance.project_id)
    old = Relationship.unscoped.filter(pk=instance.pk).first() if instance.pk else None
    saved = [name for name in SAVED if update_fields is None or name in update_fields]
    is_change = any(getattr(instance, name) != getattr(old, name, None) for name in saved)
    instance._ctxhub_verb = ("updated" if old else "created") if is_change else None  # type: ignore[attr-defined]
    if old and is_change and instance.updated_at == old.updated_at:
        instance.updated_at = clock.now()
    if old is None and instance.agent_id is None and (caller := current()):
        instance.agent_id = register_agent(caller, clock.now())


@receiver(post_save, sender=Relationship)
def record_save(
    instance: Relationship, raw: bool = False, update_fields: Collection[str] | None = None, **_: Any
) -> None:
    if raw:
        return
    verb: Verb | None = instance._ctxhub_verb  # type: ignore[attr-defined]
    if verb is None:
        return
    if update_fields is not None:
        stored = Relationship.objects.in_project(instance.project_id).filter(pk=instance.pk)
        stored.update(**{name: getattr(instance, name) for name in FOLLOWING})
    _record(instance, verb)


@receiver(post_delete, sender=Relationship)
def record_delete(instance: Relationship, origin: Any = None, **_: Any) -> None:
    """Record a delete. A cascade from the project records none: its log is deleted, too."""
    if isinstance(origin, Relationship) or (isinstance(origin, QuerySet) and origin.model is Relationship):
        _record(instance, "deleted")


def _record(row: Relationship, verb: Verb) -> None:
    at, caller = clock.now(), current()
    with write_transaction(row.project_id):
        agent_id = register_agent(caller, at) if caller else None
        change = change_of(verb, row.pk, row.source, row.target, row.relation, row.strength)
        record_relationships(project_id=row.project_id, agent_id=agent_id, changes=[change], at=at)
