"""Rules for models that imports cannot show: the layering of foreign keys, and queries by project."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import models

from ctxhub.core.kit.models import ProjectManager, ProjectQuerySet, UnscopedQuery
from ctxhub.core.models import (
    AccessToken,
    Enrolment,
    HubRecord,
    Import,
    Membership,
    Preference,
    Project,
    RequestCount,
    SignInFailure,
    Visit,
)

# A foreign key may point to its own app or to an app of a lower layer.
LAYERS = {"core": 0, "memory": 1, "messaging": 1, "tracking": 1, "agent_sessions": 2}
# The tenant, its memberships and visits (people see all their projects), what precedes a sign-in, what the
# hub notes of itself, what is recorded before there is a project: imports, and programs that ask for one; and
# the requests of a token, which are counted by its id alone.
UNSCOPED = {Project, Membership, Preference, SignInFailure, Visit, HubRecord}
UNSCOPED |= {Import, Enrolment, RequestCount}


def our_models() -> list[type[models.Model]]:
    return [model for model in apps.get_models(include_auto_created=True) if model._meta.app_label in LAYERS]


def relations(model: type[models.Model]) -> Iterator[tuple[str, type[models.Model]]]:
    for field in model._meta.get_fields():
        if field.is_relation and not field.auto_created and isinstance(field.related_model, type):
            yield field.name, field.related_model


def test_all_apps_and_models_are_checked() -> None:
    labels = {config.label for config in apps.get_app_configs() if not config.name.startswith("django.")}
    assert set(LAYERS) <= labels
    assert len(our_models()) >= 10


@pytest.mark.parametrize("model", our_models(), ids=lambda model: model._meta.label)
def test_foreign_keys_follow_the_layers_of_the_apps(model: type[models.Model]) -> None:
    own = model._meta.app_label
    for name, target in relations(model):
        label = target._meta.app_label
        allowed = (
            label == own
            or (label in LAYERS and LAYERS[label] < LAYERS[own])
            or (own == "core" and target is User)
        )
        assert allowed, f"{model._meta.label}.{name} points to {target._meta.label}"


@pytest.mark.parametrize(
    "model", [m for m in our_models() if m not in UNSCOPED], ids=lambda model: model._meta.label
)
def test_every_model_has_a_project_and_a_project_manager(model: type[models.Model]) -> None:
    project = model._meta.get_field("project")
    assert isinstance(project, models.ForeignKey)
    assert (project.related_model, project.null) == (Project, False)
    assert type(model.objects) is ProjectManager  # type: ignore[attr-defined]
    assert type(model._default_manager) is models.Manager
    assert type(model._base_manager) is models.Manager


def queryset_methods() -> list[str]:
    """All methods that a manager passes on to a queryset, including the asynchronous ones."""
    names = ProjectManager._get_queryset_methods(ProjectQuerySet)
    return sorted({*names, "all", "get_queryset", "create", "acreate", "using"} - {"in_project"})


@pytest.mark.parametrize("method", queryset_methods())
def test_queries_without_a_project_are_refused(method: str) -> None:
    with pytest.raises(UnscopedQuery):
        getattr(AccessToken.objects, method)()


def test_in_project_returns_an_ordinary_queryset(apollo: Project, hermes: Project) -> None:
    AccessToken.objects.create(project=apollo, name="a", digest="1", start="")
    assert AccessToken.objects.in_project(apollo).filter(name="a").exists()
    assert not AccessToken.objects.in_project(hermes.pk).exists()


@pytest.mark.parametrize("model", our_models(), ids=lambda model: model._meta.label)
def test_names_of_constraints_and_indexes_begin_with_the_app(model: type[models.Model]) -> None:
    names = [item.name for item in (*model._meta.constraints, *model._meta.indexes)]
    app = model._meta.app_config.name.rpartition(".")[2]
    assert all(name.startswith((app, "core")) for name in names), names
