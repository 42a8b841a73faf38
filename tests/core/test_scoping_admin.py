"""Scoping in the admin: no registered page shows or changes rows of another project."""

import pytest
from django.db.models import Model
from django.test import Client, RequestFactory
from django.urls import reverse

from ctxhub.core.models import (
    Project,
)
from tests.every_row import project_admins, row_of_every_model
from tests.people import ADMIN, member, person, superuser

SECRET_WORD = "hermetic"


@pytest.fixture
def rows_of_hermes(hermes: Project) -> dict[type[Model], Model]:
    """A row of every model in hermes; all of them contain the secret word."""
    return row_of_every_model(hermes, SECRET_WORD)


@pytest.fixture
def ada_browses(apollo: Project) -> Client:
    return member(apollo, ADMIN, "ada")


@pytest.mark.every_engine
def test_no_list_shows_another_projects_rows(
    ada_browses: Client, rows_of_hermes: dict[type[Model], Model]
) -> None:
    for model_admin in project_admins():
        for query in ({}, {"project": "hermes"}, {"all": ""}):
            page = ada_browses.get(model_admin.url("changelist"), query, follow=True)
            assert all(model_admin.project_of(row).slug == "apollo" for row in page.context["cl"].result_list)
            assert SECRET_WORD not in page.content.decode()


@pytest.mark.every_engine
def test_no_search_finds_another_projects_rows(
    ada_browses: Client, rows_of_hermes: dict[type[Model], Model]
) -> None:
    for model_admin in project_admins():
        for search in (SECRET_WORD, "hermes", "ctx_"):
            page = ada_browses.get(model_admin.url("changelist"), {"q": search})
            assert all(model_admin.project_of(row).slug == "apollo" for row in page.context["cl"].result_list)


def test_choices_offer_only_rows_of_the_persons_projects(
    apollo: Project, rows_of_hermes: dict[type[Model], Model]
) -> None:
    request = RequestFactory().get("/admin/")
    request.user = person("ada", apollo)
    for model_admin in project_admins():
        for field in model_admin.opts.get_fields():
            if (queryset := field.is_relation and model_admin.get_field_queryset(None, field, request)) and (
                field.related_model in rows_of_hermes
            ):
                assert rows_of_hermes[field.related_model] not in queryset, field


@pytest.mark.every_engine
def test_autocompletes_offer_only_rows_of_the_persons_projects(
    ada_browses: Client, rows_of_hermes: dict[type[Model], Model]
) -> None:
    query = {"app_label": "memory", "model_name": "decision", "field_name": "layer", "term": ""}
    answer = ada_browses.get(reverse("admin:autocomplete"), query)
    assert "business" in answer.content.decode()
    assert SECRET_WORD not in answer.content.decode()


def test_the_index_shows_nothing_of_another_project(
    ada_browses: Client, rows_of_hermes: dict[type[Model], Model]
) -> None:
    for address in ("/admin/", "/admin/?project=hermes"):
        assert SECRET_WORD not in ada_browses.get(address).content.decode()


def test_a_superuser_sees_all_projects(rows_of_hermes: dict[type[Model], Model], apollo: Project) -> None:
    page = superuser().get(reverse("admin:memory_decision_changelist"))
    assert SECRET_WORD in page.content.decode()


def test_filters_never_offer_related_rows_unscoped() -> None:
    for model_admin in project_admins():
        field_names = [name for name in model_admin.list_filter if isinstance(name, str)]
        assert not [name for name in field_names if model_admin.opts.get_field(name).is_relation], model_admin


def test_the_column_of_projects_is_shown_only_for_several(
    rows_of_hermes: dict[type[Model], Model], apollo: Project
) -> None:
    client, url = superuser(), reverse("admin:tracking_resource_changelist")
    label = '<span class="ctx-row-label">project</span>'
    assert label in client.get(url).content.decode()
    assert label not in client.get(f"{url}?project=hermes").content.decode()
