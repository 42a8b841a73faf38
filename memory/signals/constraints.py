"""Figures and log of constraints, for whoever writes through the ORM: an admin page, an import, a shell."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver

from ctxhub.core import clock
from ctxhub.core.caller import current
from ctxhub.core.models import Category
from ctxhub.core.services.words import register_agent
from ctxhub.core.writing import join_queue, writing
from memory.models import Constraint, ConstraintScope, ConstraintTag
from memory.models.constraint import digest_of, rank_of
from memory.search.constraints import constraint_document
from memory.services.constraint_log import ConstraintChange, index_constraints, record_constraints
from memory.sql.constraint_rows import ConstraintRow, read_constraints
from memory.sql.constraint_writes import rank_again, touch_links

# What a save may change; tags and scopes are changed beside it.
SAVED = ("category_id", "text", "priority", "status", "layer_id", "paths", "reason")
# What follows from a change, whatever the writer saved.
FOLLOWING = ("digest", "rank", "agent_id", "updated_at")


@receiver(pre_save, sender=Constraint)
def keep_what_was(instance: Constraint, raw: bool = False, **_: Any) -> None:
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
    instance.digest = digest_of(instance.text)
    instance.rank = rank_of(instance.priority, instance.category.name)


@receiver(post_save, sender=Constraint)
def record_save(
    instance: Constraint, raw: bool = False, update_fields: Iterable[str] | None = None, **_: Any
) -> None:
    if raw:
        return
    if update_fields is not None:
        stored = Constraint.objects.in_project(instance.project_id).filter(pk=instance.pk)
        stored.update(**{name: getattr(instance, name) for name in FOLLOWING})
    _record(instance)


@receiver(m2m_changed, sender=ConstraintTag)
@receiver(m2m_changed, sender=ConstraintScope)
def record_words(instance: Any, action: str, pk_set: set[int] | None, **_: Any) -> None:
    """Tags and scopes added or removed, from either end, are a change of the constraint."""
    if action.startswith("pre_"):
        instance._ctxhub_constraints = list(_constraints(instance, pk_set))
        for constraint in instance._ctxhub_constraints:
            _remember(constraint)
        return
    for constraint in instance._ctxhub_constraints:
        _record(constraint)


@receiver(pre_delete, sender=Constraint)
def keep_what_goes(instance: Constraint, origin: Any = None, **_: Any) -> None:
    if _is_meant(origin):
        _remember(instance)


@receiver(post_delete, sender=Constraint)
def record_delete(instance: Constraint, origin: Any = None, **_: Any) -> None:
    if _is_meant(origin) and (old := _remembered(instance)):
        _write_record(instance, ConstraintChange(old, None))


@receiver(post_save, sender=Category)
def follow_the_name(instance: Category, created: bool = False, **_: Any) -> None:
    """A category that is renamed stands elsewhere in the lists, and its constraints with it."""
    if not created:
        rank_again(instance.pk, instance.folded)


def _is_meant(origin: Any) -> bool:
    """A constraint that goes with its whole project leaves no event: the log goes too."""
    return isinstance(origin, Constraint) or (isinstance(origin, QuerySet) and origin.model is Constraint)


def _constraints(instance: Any, pk_set: set[int] | None) -> Iterable[Constraint]:
    """The constraints whose words change: this one, or those named from a tag's or scope's end; None: all."""
    if isinstance(instance, Constraint):
        return [instance]
    constraints = Constraint.objects.in_project(instance.project_id)
    return constraints.filter(pk__in=instance.constraints.values("pk") if pk_set is None else pk_set)


def _remember(constraint: Constraint) -> ConstraintRow | None:
    join_queue(constraint.project_id)
    stored = _stored(constraint) if constraint.pk else None
    constraint._ctxhub_was = stored  # type: ignore[attr-defined]
    return stored


def _remembered(constraint: Constraint) -> ConstraintRow | None:
    return getattr(constraint, "_ctxhub_was", None)


def _stored(constraint: Constraint) -> ConstraintRow | None:
    return read_constraints(constraint.project_id, [constraint.pk]).get(constraint.pk)


def _sign(constraint: Constraint) -> None:
    """Who acts is the author, unless the writer names another."""
    if (caller := current()) and constraint.agent_id is None:
        constraint.agent_id = register_agent(caller, clock.now())


def _record(constraint: Constraint) -> None:
    change = ConstraintChange(_remembered(constraint), _stored(constraint))
    touch_links(constraint.pk)
    if change.old is None or change.changed:
        _write_record(constraint, change)
    elif change.new and constraint_document(change.old) != constraint_document(change.new):
        with writing(constraint.project_id):
            index_constraints(constraint.project_id, [change])


def _write_record(constraint: Constraint, change: ConstraintChange) -> None:
    at = clock.now()
    caller = current()
    with writing(constraint.project_id):
        agent_id = register_agent(caller, at) if caller else None
        record_constraints(project_id=constraint.project_id, agent_id=agent_id, changes=[change], at=at)
