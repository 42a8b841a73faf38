"""What imports cannot show: foreign keys keep the order of the apps, and no query forgets its project."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import models

from ctxhub.core.kit.models import ProjectManager, ProjectQuerySet, UnscopedQuery
from ctxhub.core.models import AccessToken, Membership, Project

# A foreign key may point to its own app or to a lower floor, never sideways or up.
FLOORS = {"core": 0, "memory": 1, "messaging": 1, "tracking": 1, "agent_sessions": 2}
# The tenant itself, and who belongs to it: people see all their projects at once.
UNSCOPED = {Project, Membership}


def house() -> list[type[models.Model]]:
    return [model for model in apps.get_models(include_auto_created=True) if model._meta.app_label in FLOORS]


def relations(model: type[models.Model]) -> Iterator[tuple[str, type[models.Model]]]:
    for field in model._meta.get_fields():
        if field.is_relation and not field.auto_created and isinstance(field.related_model, type):
            yield field.name, field.related_model


def test_the_house_is_all_there() -> None:
    labels = {config.label for config in apps.get_app_configs() if not config.name.startswith("django.")}
    assert set(FLOORS) <= labels
    assert len(house()) >= 10


@pytest.mark.parametrize("model", house(), ids=lambda model: model._meta.label)
def test_foreign_keys_keep_the_order_of_the_apps(model: type[models.Model]) -> None:
    own = model._meta.app_label
    for name, target in relations(model):
        label = target._meta.app_label
        allowed = (
            label == own
            or (label in FLOORS and FLOORS[label] < FLOORS[own])
            or (own == "core" and target is User)
        )
        assert allowed, f"{model._meta.label}.{name} points to {target._meta.label}"


@pytest.mark.parametrize(
    "model", [m for m in house() if m not in UNSCOPED], ids=lambda model: model._meta.label
)
def test_every_row_belongs_to_a_project_and_is_asked_for_by_it(model: type[models.Model]) -> None:
    project = model._meta.get_field("project")
    assert isinstance(project, models.ForeignKey)
    assert (project.related_model, project.null) == (Project, False)
    assert type(model.objects) is ProjectManager  # type: ignore[attr-defined]
    assert type(model._default_manager) is models.Manager
    assert type(model._base_manager) is models.Manager


def queryset_methods() -> list[str]:
    """Everything a manager passes on to a queryset, the asynchronous ones too."""
    names = ProjectManager._get_queryset_methods(ProjectQuerySet)
    return sorted({*names, "all", "get_queryset", "create", "acreate", "using"} - {"in_project"})


@pytest.mark.parametrize("method", queryset_methods())
def test_no_query_can_forget_its_project(method: str) -> None:
    with pytest.raises(UnscopedQuery):
        getattr(AccessToken.objects, method)()


def test_a_scoped_query_is_an_ordinary_one(apollo: Project, hermes: Project) -> None:
    AccessToken.objects.create(project=apollo, name="a", digest="1", start="")
    assert AccessToken.objects.in_project(apollo).filter(name="a").exists()
    assert not AccessToken.objects.in_project(hermes.pk).exists()


@pytest.mark.parametrize("model", house(), ids=lambda model: model._meta.label)
def test_constraints_and_indexes_are_named_for_what_they_promise(model: type[models.Model]) -> None:
    names = [item.name for item in (*model._meta.constraints, *model._meta.indexes)]
    assert all(name.startswith((model._meta.app_label, "core")) for name in names), names
