"""History and log of decisions, for whoever writes through the ORM: an admin page, an import, a shell."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver

from ctxhub.core import clock
from ctxhub.core.caller import current
from ctxhub.core.services.words import register_agent
from ctxhub.core.writing import join_queue, writing
from memory.models import Decision, DecisionScope, DecisionTag, ValueType
from memory.models.decision import version_order
from memory.search.decisions import decision_document
from memory.services.decision_log import DecisionChange, index_decisions, record_decisions
from memory.services.decision_rules import bump
from memory.sql.decision_lists import SCOPE_LINKS, TAG_LINKS
from memory.sql.decision_rows import DecisionRow, read_decisions
from memory.sql.decision_writes import touch_links, upsert_decisions

# What a save may change; tags and scopes are changed beside it.
SAVED = (
    *("key", "value", "value_type", "version", "status", "layer_id", "paths", "rationale", "alternatives"),
    *("tradeoffs", "metadata", "reason", "superseded_by_id"),
)
# What follows from a change, whatever the writer saved.
FOLLOWING = ("version", "version_order", "number", "agent_id", "updated_at")


@receiver(pre_save, sender=Decision)
def keep_what_was(instance: Decision, raw: bool = False, **_: Any) -> None:
    """Remember the stored row. A change gets its time, its author and, with a new value, the next version."""
    if raw:
        return
    old = _remember(instance)
    if old and any(getattr(instance, name) != getattr(old, name) for name in SAVED):
        if instance.updated_at == old.updated_at:
            instance.updated_at = clock.now()
        if instance.version == old.version and _value(instance) != _value(old):
            instance.version = bump(old.version)
        _sign(instance, old)
    elif old is None:
        _sign(instance, None)
    instance.version_order = version_order(instance.version)
    instance.number = None if instance.value_type == ValueType.TEXT else float(instance.value)


@receiver(post_save, sender=Decision)
def record_save(
    instance: Decision, raw: bool = False, update_fields: Iterable[str] | None = None, **_: Any
) -> None:
    if raw:
        return
    if update_fields is not None:
        _save_what_follows(instance)
    _record(instance)


@receiver(m2m_changed, sender=DecisionTag)
@receiver(m2m_changed, sender=DecisionScope)
def record_words(instance: Any, action: str, pk_set: set[int] | None, **_: Any) -> None:
    """Tags and scopes added or removed, from either end, are a change of the decision."""
    if action.startswith("pre_"):
        instance._ctxhub_decisions = list(_decisions(instance, pk_set))
        for decision in instance._ctxhub_decisions:
            _remember(decision)
        return
    for decision in instance._ctxhub_decisions:
        old = _remembered(decision)
        assert old is not None
        if DecisionChange(old, _stored(decision)).changed:
            decision.updated_at = clock.now()
            _sign(decision, old)
            _save_what_follows(decision)
            _record(decision)


@receiver(pre_delete, sender=Decision)
def keep_what_goes(instance: Decision, origin: Any = None, **_: Any) -> None:
    if _is_meant(origin):
        _remember(instance)
        _remember_superseded(instance)


@receiver(post_delete, sender=Decision)
def record_delete(instance: Decision, origin: Any = None, **_: Any) -> None:
    if _is_meant(origin) and (old := _remembered(instance)):
        _write_record(instance.project_id, [DecisionChange(old, None), *_release_superseded(instance)])


def _is_meant(origin: Any) -> bool:
    """A decision that goes with its whole project leaves no event: the log goes too."""
    return isinstance(origin, Decision) or (isinstance(origin, QuerySet) and origin.model is Decision)


def _value(decision: Decision | DecisionRow) -> tuple[str, int]:
    return decision.value, decision.value_type


def _decisions(instance: Any, pk_set: set[int] | None) -> Iterable[Decision]:
    """The decisions whose words change: this one, or those named from a tag's or scope's end; None: all."""
    if isinstance(instance, Decision):
        return [instance]
    decisions = Decision.objects.in_project(instance.project_id)
    return decisions.filter(pk__in=instance.decisions.values("pk") if pk_set is None else pk_set)


def _remember(decision: Decision) -> DecisionRow | None:
    join_queue(decision.project_id)
    stored = None
    if decision.pk:
        key = Decision.unscoped.filter(pk=decision.pk).values_list("key", flat=True).first()
        stored = read_decisions(decision.project_id, [key]).get(key) if key else None
    decision._ctxhub_was = stored  # type: ignore[attr-defined]
    return stored


def _remembered(decision: Decision) -> DecisionRow | None:
    return getattr(decision, "_ctxhub_was", None)


def _stored(decision: Decision) -> DecisionRow:
    return read_decisions(decision.project_id, [decision.key])[decision.key]


def _sign(decision: Decision, old: DecisionRow | None) -> None:
    """Who acts is the author, unless the writer names another."""
    if (caller := current()) and decision.agent_id == (old.agent_id if old else None):
        decision.agent_id = register_agent(caller, clock.now())


def _save_what_follows(decision: Decision) -> None:
    stored = Decision.objects.in_project(decision.project_id).filter(pk=decision.pk)
    stored.update(**{name: getattr(decision, name) for name in FOLLOWING})


def _record(decision: Decision) -> None:
    new = _stored(decision)
    change = DecisionChange(_remembered(decision), new)
    if change.old:
        touch_links(TAG_LINKS, [new.id], new.updated_at)
        touch_links(SCOPE_LINKS, [new.id], new.updated_at)
    if change.old is None or change.changed:
        _write_record(decision.project_id, [change])
    elif decision_document(change.old) != decision_document(new):
        with writing(decision.project_id):
            index_decisions(decision.project_id, [change])


def _write_record(project_id: int, changes: Sequence[DecisionChange]) -> None:
    at = clock.now()
    caller = current()
    with writing(project_id):
        agent_id = register_agent(caller, at) if caller else None
        record_decisions(project_id=project_id, agent_id=agent_id, changes=changes, at=at)


# -- What the deleted one stood in the place of ----------------------------------------------------


def _remember_superseded(decision: Decision) -> None:
    rows = Decision.objects.in_project(decision.project_id).filter(superseded_by_id=decision.pk)
    keys = list(rows.order_by("pk").values_list("key", flat=True))
    found = read_decisions(decision.project_id, keys) if keys else {}
    decision._ctxhub_superseded = found  # type: ignore[attr-defined]


def _release_superseded(decision: Decision) -> list[DecisionChange]:
    """Those that it superseded are changed too: the database has cleared what led to it."""
    were: dict[str, DecisionRow] = decision._ctxhub_superseded  # type: ignore[attr-defined]
    rows = read_decisions(decision.project_id, list(were)) if were else {}  # Some may have gone with it.
    if not rows:
        return []
    at, caller = clock.now(), current()
    agent_id = register_agent(caller, at) if caller else None
    changed = [
        replace(row, agent_id=agent_id or row.agent_id, updated_at=at + timedelta(microseconds=place))
        for place, row in enumerate(rows.values(), start=1)
    ]
    upsert_decisions(decision.project_id, changed)
    for links in (TAG_LINKS, SCOPE_LINKS):
        touch_links(links, [row.id for row in changed])
    return [DecisionChange(were[row.key], row) for row in changed]
