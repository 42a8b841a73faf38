"""What every row of a project shares: the project itself, and a manager that does not let one forget it."""

from collections.abc import Iterable
from typing import Any, Self, TypeVar

from django.db import models

RowT = TypeVar("RowT", bound=models.Model)


def saved_with(update_fields: Iterable[str] | None, field: str, follows: str) -> Iterable[str] | None:
    """What a save stores: where it names a field, also the one that follows from it."""
    if update_fields is None:
        return None
    names = {*update_fields}
    return names | {follows} if field in names else names


class UnscopedQuery(RuntimeError):
    """A query that forgot its project. A bug in ctxhub, never a caller's mistake."""


class ProjectQuerySet(models.QuerySet[RowT]):
    def in_project(self, project: "models.Model | int") -> Self:
        return self.filter(project=project)


class ProjectManager(models.Manager[RowT]):
    """Opens a table only for one project: `objects.in_project(project)`. Everything else raises.

    What must see all projects (the admin's scoping, cascades, maintenance) says so: `Model.unscoped`.
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

    # Every table has an index that begins with the project; one on the project alone would only cost.
    project = models.ForeignKey("core.Project", on_delete=models.CASCADE, related_name="+", db_index=False)

    unscoped = models.Manager()
    objects = ProjectManager()

    class Meta:
        abstract = True
        default_manager_name = "unscoped"
        base_manager_name = "unscoped"


class NamedRow(ProjectRow):
    """A name within a project, found whatever its case: the spelling that came first is the one shown."""

    name = models.CharField(max_length=100)
    folded = models.CharField(max_length=300, editable=False)

    # The stored name while another is saved.
    was = ""

    class Meta(ProjectRow.Meta):
        abstract = True

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, update_fields: Iterable[str] | None = None, **kwargs: Any) -> None:
        self.folded = self.name.casefold()
        super().save(*args, update_fields=saved_with(update_fields, "name", "folded"), **kwargs)
