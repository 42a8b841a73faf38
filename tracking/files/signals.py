"""Signal receivers that record counters and index entries of files written through the ORM."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Model, QuerySet
from django.db.models.signals import post_delete, post_save, pre_delete
from django.dispatch import receiver

from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.search.index import index_again
from tracking.changes.history import count_files
from tracking.files.rows import delete_unused_contents
from tracking.models import FileContent, Resource

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


def _is_explicit_delete(origin: Any, model: type[Model]) -> bool:
    """Whether rows were deleted themselves; a project's deletion writes no event: its log goes, too."""
    return isinstance(origin, model) or (isinstance(origin, QuerySet) and origin.model is model)
