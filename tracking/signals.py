"""Signal receivers that record counters of files and events of leases written through the ORM."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Model, QuerySet
from django.db.models.signals import post_delete, post_save, pre_delete, pre_save
from django.dispatch import receiver

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import current
from ctxhub.core.kit.transactions import acquire_write_lock, write_transaction
from ctxhub.core.search.services.index import index_again
from ctxhub.core.vocabulary.services.names import register_agent
from tracking.history.changes import count_files
from tracking.history.leases import Verb, record_leases
from tracking.models import FileContent, Lease, Resource
from tracking.sql.leases import LeaseRow, read_leases
from tracking.sql.resources import delete_unused_contents

# -- Files ------------------------------------------------------------------------------------------


@receiver(post_save, sender=Resource)
def count_file(instance: Resource, created: bool, raw: bool = False, **_: Any) -> None:
    if raw:
        return
    with write_transaction(instance.project_id):
        index_again(instance.project_id, "resource", [instance.pk])
        if created:
            count_files(instance.project_id, 1)
        else:
            index_again(instance.project_id, "change", instance.changes.values_list("pk", flat=True))


@receiver(post_delete, sender=Resource)
def count_deleted_file(instance: Resource, origin: Any = None, **_: Any) -> None:
    if _is_explicit_delete(origin, Resource):
        with write_transaction(instance.project_id):
            count_files(instance.project_id, -1)
            if instance.content_id:
                delete_unused_contents(instance.project_id, [instance.content_id])


@receiver(pre_delete, sender=FileContent)
def remember_files(instance: FileContent, origin: Any = None, **_: Any) -> None:
    if _is_explicit_delete(origin, FileContent):
        instance._ctxhub_files = list(_files_with(instance))  # type: ignore[attr-defined]


@receiver([post_save, post_delete], sender=FileContent)
def index_files(instance: FileContent, raw: bool = False, origin: Any = None, **_: Any) -> None:
    """Index the files of a content that was changed or deleted; a project's deletion deletes its index."""
    if raw or (origin is not None and not _is_explicit_delete(origin, FileContent)):
        return
    with write_transaction(instance.project_id):
        files = getattr(instance, "_ctxhub_files", None) or _files_with(instance)
        index_again(instance.project_id, "resource", files)


def _files_with(content: FileContent) -> Iterable[int]:
    return content.resources.values_list("pk", flat=True)


# -- Leases ----------------------------------------------------------------------------------------


@receiver([pre_save, pre_delete], sender=Lease)
def snapshot_lease(instance: Lease, raw: bool = False, **_: Any) -> None:
    if not raw:
        acquire_write_lock(instance.project_id)
        instance._ctxhub_was = _lease_row(instance)  # type: ignore[attr-defined]


@receiver(post_save, sender=Lease)
def record_lease_save(instance: Lease, raw: bool = False, **_: Any) -> None:
    if raw:
        return
    old, new = getattr(instance, "_ctxhub_was", None), _lease_row(instance)
    assert new is not None
    if verb := _verb_of(instance, old, new):
        _record_lease(instance, verb, new)


@receiver(post_delete, sender=Lease)
def record_lease_delete(instance: Lease, origin: Any = None, **_: Any) -> None:
    if _is_explicit_delete(origin, Lease) and (old := getattr(instance, "_ctxhub_was", None)):
        _record_lease(instance, "deleted", old)


def _verb_of(lease: Lease, old: LeaseRow | None, new: LeaseRow) -> Verb | None:
    if old is None:
        return "leased"
    if new.released_at and not old.released_at:
        return "released" if lease.released_by_id in (None, lease.agent_id) else "force_released"
    return "renewed" if new.expires_at != old.expires_at else None


def _record_lease(lease: Lease, verb: Verb, row: LeaseRow) -> None:
    with write_transaction(lease.project_id):
        record_leases(
            project_id=lease.project_id,
            agent_id=_acting_agent(lease.project_id) or lease.agent_id,
            verb=verb,
            leases=[row],
            at=clock.now(),
        )


def _lease_row(lease: Lease) -> LeaseRow | None:
    found = read_leases(lease.project_id, [lease.pk]) if lease.pk else []
    return found[0] if found else None


# -- Both ------------------------------------------------------------------------------------------


def _acting_agent(project_id: int) -> int | None:
    caller = current()
    return register_agent(caller, clock.now()) if caller and caller.project_id == project_id else None


def _is_explicit_delete(origin: Any, model: type[Model]) -> bool:
    """Whether rows were deleted themselves; a project's deletion writes no event: its log goes, too."""
    return isinstance(origin, model) or (isinstance(origin, QuerySet) and origin.model is model)
