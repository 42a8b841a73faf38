"""A resource: a file of the repository, identified by its path."""

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.utils import timezone

from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.core.kit.models import PathField, ProjectRow, saved_with
from ctxhub.core.text.path_case import fold_path
from tracking.files.types import ResourceType as ResourceType
from tracking.files.types import type_of_path as type_of_path

HASH_LENGTH = 200


class AccessKind(models.IntegerChoices):
    """What an agent did with a file, the weakest first."""

    VIEWED = 1, "viewed"
    REFERENCED = 2, "referenced"
    EXECUTED = 3, "executed"
    EDITED = 4, "edited"


class FileContent(ProjectRow):
    """The content of files, once for all files that have it. `hash`: the SHA-256 of `text`, as hex.

    `compressed` and `digest` are shorter forms. They are made when first needed; until then their tokens are
    null.
    """

    hash = models.CharField(max_length=64)
    text = models.TextField()
    tokens = models.PositiveIntegerField()
    compressed = models.TextField(blank=True)
    compressed_tokens = models.PositiveIntegerField(null=True, blank=True)
    digest = models.TextField(blank=True)
    digest_tokens = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        verbose_name = "content"
        constraints = (
            models.UniqueConstraint(fields=("project", "hash"), name="tracking_one_content_per_hash"),
        )

    def __str__(self) -> str:
        return self.hash


class Resource(ProjectRow):
    """`hash` is what agents compare files by: theirs, or the SHA-256 of the content. `size` is in bytes.

    `size` and `tokens` are null while nobody said them. `mark`: the importance that a user gave it, 0 to 100.
    `best_access`: the strongest access so far. `folded`: the path without case.
    """

    path = PathField(max_length=PATH_LENGTH)
    folded = PathField(max_length=PATH_LENGTH, editable=False)
    type = models.PositiveSmallIntegerField(choices=ResourceType, default=ResourceType.DOCUMENTATION)
    size = models.PositiveBigIntegerField(null=True, blank=True)
    tokens = models.PositiveIntegerField(null=True, blank=True)
    hash = models.CharField(max_length=HASH_LENGTH, blank=True)
    content = models.ForeignKey(
        FileContent,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="resources",
        db_index=False,
    )
    mark = models.PositiveSmallIntegerField(null=True, blank=True)
    access_count = models.PositiveIntegerField(default=0, editable=False)
    last_accessed = models.DateTimeField(null=True, blank=True, editable=False)
    best_access = models.PositiveSmallIntegerField(choices=AccessKind, null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        verbose_name = "file"
        ordering = ("path",)
        constraints = (
            models.UniqueConstraint(fields=("project", "path"), name="tracking_one_resource_per_path"),
        )
        indexes = (
            models.Index(fields=("project", "folded"), name="tracking_resource_by_folded"),
            models.Index(
                fields=("content",),
                name="tracking_resource_content",
                condition=models.Q(content__isnull=False),
            ),
        )

    def __init__(self, *args: Any, **fields: Any) -> None:
        """A new file has the type of its path, if none is given."""
        super().__init__(*args, **fields)
        if "path" in fields:
            self.folded = fold_path(self.path)
        if "path" in fields and "type" not in fields:
            self.type = type_of_path(self.path)

    def __str__(self) -> str:
        return self.path

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        self.folded = fold_path(self.path)
        super().save(*args, update_fields=saved_with(update_fields, "path", "folded"), **kwargs)

    @property
    def ref(self) -> str:
        return f"resource:{self.path}"
