"""A resource: a file of the repository, identified by its path."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.utils import timezone

from ctxhub.core.kit.inputs import PATH_LENGTH
from ctxhub.core.kit.models import ProjectRow

if TYPE_CHECKING:
    from django.db.models.expressions import Combinable

    CharField = models.CharField[str | Combinable, str]
else:
    CharField = models.CharField


class PathField(CharField):
    """A path, sorted by code points on both engines, so that an index serves prefix searches."""

    def db_parameters(self, connection: Any) -> Any:
        collation = "C" if connection.vendor == "postgresql" else None
        return {**super().db_parameters(connection), "collation": collation}


class Resource(ProjectRow):
    path = PathField(max_length=PATH_LENGTH)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta(ProjectRow.Meta):
        verbose_name = "file"
        ordering = ("path",)
        constraints = (
            models.UniqueConstraint(fields=("project", "path"), name="tracking_one_resource_per_path"),
        )

    def __str__(self) -> str:
        return self.path

    @property
    def ref(self) -> str:
        return f"resource:{self.path}"
