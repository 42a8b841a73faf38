"""Base models of rows that belong to a project, and a manager that refuses queries without a project."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self, TypeVar

from django.db import models

RowT = TypeVar("RowT", bound=models.Model)

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


def saved_with(update_fields: Iterable[str] | None, field: str, follows: str) -> Iterable[str] | None:
    """The `update_fields` of a save, with `follows`, which is computed from `field`, if it has `field`."""
    if update_fields is None:
        return None
    names = {*update_fields}
    return names | {follows} if field in names else names


class UnscopedQuery(RuntimeError):
    """A query without a project: a bug in ctxhub, never a caller's mistake."""


class ProjectQuerySet(models.QuerySet[RowT]):
    def in_project(self, project: "models.Model | int") -> Self:
        return self.filter(project=project)


class ProjectManager(models.Manager[RowT]):
    """Allows queries of one project only: `objects.in_project(project)`. Everything else raises.

    Code that must see all projects (the admin's scoping, cascades, maintenance) uses `Model.unscoped`.
    """

    def get_queryset(self) -> models.QuerySet[RowT]:
        raise UnscopedQuery(f"Name the project: {self.model.__name__}.objects.in_project(project)")

    def in_project(self, project: "models.Model | int") -> models.QuerySet[RowT]:
        return self._rows().filter(project=project)

    def create(self, **values: Any) -> RowT:
        if "project" not in values and "project_id" not in values:
            raise UnscopedQuery(f"{self.model.__name__}.objects.create() needs a project")
        return self._rows().create(**values)

    def _rows(self) -> models.QuerySet[RowT]:
        return models.QuerySet(self.model, using=self._db)


class ProjectRow(models.Model):
    """A row of one project. `objects` is scoped; Django's own machinery (cascades, admin) uses `unscoped`."""

    # Every table has an index that begins with the project, so the key needs none of its own.
    project = models.ForeignKey("core.Project", on_delete=models.CASCADE, related_name="+", db_index=False)

    unscoped = models.Manager()
    objects = ProjectManager()

    class Meta:
        abstract = True
        default_manager_name = "unscoped"
        base_manager_name = "unscoped"


class NamedRow(ProjectRow):
    """A name within a project, looked up case-insensitively; the first spelling is the one shown."""

    name = models.CharField(max_length=100)
    folded = models.CharField(max_length=300, editable=False)

    # The old name, while a new one is saved.
    was = ""

    class Meta(ProjectRow.Meta):
        abstract = True

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        self.folded = self.name.casefold()
        super().save(*args, update_fields=saved_with(update_fields, "name", "folded"), **kwargs)
