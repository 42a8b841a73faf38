"""Puts into the bin what is deleted through the ORM of nouns without a `History`, which does it otherwise."""

from functools import partial
from typing import Any

from django.db.models import Model, QuerySet
from django.db.models.signals import post_delete, pre_delete

from ctxhub.core.bin.selectors import watched
from ctxhub.core.bin.services.binning import Deleted, collect_objects, put_in_bin
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import current
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.transactions import acquire_write_lock, write_transaction
from ctxhub.core.vocabulary.services.names import register_agent


@frozen
class _Row:
    """What binning needs to know of an object that is still there."""

    id: int


def watch_deletions(kind: str, model: type[Model]) -> None:
    """Put the objects of a kind into the bin when they are deleted, each by itself."""
    watched.add(kind)
    uid = f"bin of {kind}"
    pre_delete.connect(partial(_before, kind, model), sender=model, weak=False, dispatch_uid=uid)
    post_delete.connect(partial(_after, kind, model), sender=model, weak=False, dispatch_uid=uid)


def _before(kind: str, model: type[Model], instance: Any, origin: Any = None, **_: Any) -> None:
    if _is_of(model, origin):
        acquire_write_lock(instance.project_id)
        found = collect_objects(instance.project_id, kind, model, [_Row(instance.pk)])
        instance.__dict__["_ctxhub_binned"] = found


def _after(kind: str, model: type[Model], instance: Any, origin: Any = None, **_: Any) -> None:
    contents = instance.__dict__.pop("_ctxhub_binned", None)
    if not contents or not _is_of(model, origin):
        return
    at, caller = clock.now(), current()
    with write_transaction(instance.project_id):
        put_in_bin(
            project_id=instance.project_id,
            kind=kind,
            objects=[Deleted(_Row(instance.pk), f"{kind}:{instance.pk}")],
            contents=contents,
            agent_id=register_agent(caller, at) if caller else None,
            at=at,
        )


def _is_of(model: type[Model], origin: Any) -> bool:
    """Whether the row is deleted itself, and not with its project or another object."""
    return (origin.model if isinstance(origin, QuerySet) else type(origin)) is model
