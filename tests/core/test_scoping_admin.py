"""Scoping in the admin: no registered page shows or changes rows of another project."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client, RequestFactory
from django.urls import reverse

from ctxhub.console.base import ProjectAdmin
from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.projects import invite
from ctxhub.core.hub.deleting import delete_refs
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict
from ctxhub.core.models import (
    AccessToken,
    Import,
    Layer,
    Membership,
    PathPattern,
    Project,
)
from ctxhub.core.paths.counting import count_changes
from ctxhub.core.refusals.services import WRITER, count_refusal
from ctxhub.core.use import tally
from ctxhub.core.use.tally import Call, found_nothing
from ctxhub.core.webhooks.services import add_webhook
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from memory.models import Memory, Workflow
from sessions.accesses.services import add_dependency, track_access
from tests.contract.pages import PAGES, relate
from tests.people import ADMIN, member, person, superuser
from tests.sessions.given import read
from tests.tables import dump_project
from tracking.changes.services import record_change

SECRET_WORD = "hermetic"


@pytest.fixture
def rows_of_hermes(hermes: Project) -> dict[type[Model], Model]:
    """A row of every model in hermes; all of them contain the secret word."""
    cy = Caller(project=hermes, agent=f"{SECRET_WORD}-agent")
    rows = {page.model: page.make_with(cy, SECRET_WORD) for page in PAGES}
    relate(cy, rows[Memory].ref, "decision:api/auth/method")
    create_token(project=hermes, name=SECRET_WORD)
    host = User.objects.create_user(SECRET_WORD)
    invite(caller=cy, name=SECRET_WORD, role=Membership.Role.VIEWER, created_by=host)
    add_webhook(caller=cy, url=f"https://{SECRET_WORD}.example.com/")
    Layer.objects.create(project=hermes, name=SECRET_WORD)
    add_constraint(caller=cy, category=SECRET_WORD, text="x", paths=[f"{SECRET_WORD}/**"])
    other = Caller(project=hermes, agent=f"{SECRET_WORD}-other")
    record_change(caller=other, path=f"{SECRET_WORD}/file", change="created", description=SECRET_WORD)
    count_changes(hermes.pk)
    track_access(caller=cy, path=f"{SECRET_WORD}/file", access="edited", content=SECRET_WORD)
    add_dependency(caller=cy, source=f"{SECRET_WORD}/file", target=f"{SECRET_WORD}/x", type=SECRET_WORD)
    read(cy, "decision:api/auth/method")
    set_decision(caller=cy, key=f"{SECRET_WORD}/deleted", value=SECRET_WORD)
    delete_refs(caller=cy, refs=[f"decision:{SECRET_WORD}/deleted"])
    count_refusal(cy, Conflict(SECRET_WORD, about="decision:api/auth/method"))
    WRITER.flush()
    with Call(cy, SECRET_WORD) as made:
        found_nothing(SECRET_WORD)
    made.answered(1)
    tally.WRITER.flush()
    tally.EMPTY_SEARCHES.flush()
    now = clock.now()
    brought = Import.objects.create(project=hermes, by=SECRET_WORD, started_at=now, alive_until=now)
    project_rows = [model_admin.model for model_admin in project_admins() if model_admin.model is not Project]
    return {
        Project: hermes,
        Import: brought,
        **{model: model._base_manager.filter(project=hermes).latest("pk") for model in project_rows},
    }


@pytest.fixture
def ada_browses(apollo: Project) -> Client:
    return member(apollo, ADMIN, "ada")


def project_admins() -> Iterator[ProjectAdmin]:
    return (each for each in admin.site._registry.values() if isinstance(each, ProjectAdmin))


def named_urls(model_admin: ProjectAdmin) -> list[str]:
    """The names of all URLs of the admin that take a row."""
    patterns = [url for url in model_admin.get_urls() if url.name]
    return [str(url.name) for url in patterns if url.pattern.converters]


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


def test_no_page_of_another_projects_row_opens(
    ada_browses: Client, rows_of_hermes: dict[type[Model], Model]
) -> None:
    for model_admin in project_admins():
        row = rows_of_hermes[model_admin.model]
        for name in named_urls(model_admin):
            for method in (ada_browses.get, ada_browses.post):
                page = method(reverse(f"admin:{name}", args=[row.pk]))
                assert page.status_code in (302, 403, 404), name
                assert SECRET_WORD not in page.content.decode()


def test_requests_for_another_projects_rows_change_nothing(
    ada_browses: Client, rows_of_hermes: dict[type[Model], Model], hermes: Project
) -> None:
    before = dump_project(hermes)
    test_no_page_of_another_projects_row_opens(ada_browses, rows_of_hermes)
    assert dump_project(hermes) == before


def test_actions_do_not_reach_another_projects_rows(
    ada_browses: Client, rows_of_hermes: dict[type[Model], Model]
) -> None:
    for model_admin in project_admins():
        row = rows_of_hermes[model_admin.model]
        for action in (
            "delete_selected",
            "deprecate_selected",
            "revoke_selected",
            "deactivate_selected",
            "close_selected",
            "confirm_selected",
        ):
            form = {"action": action, "_selected_action": [row.pk], "confirmed": "yes", "post": "yes"}
            page = ada_browses.post(model_admin.url("changelist"), form)
            assert SECRET_WORD not in page.content.decode()
            row.refresh_from_db()
    token = rows_of_hermes[AccessToken]
    assert isinstance(token, AccessToken)
    assert token.is_usable
    assert rows_of_hermes[PathPattern].stale == 1  # type: ignore[attr-defined]
    assert not Workflow.unscoped.filter(is_active=False).exists()


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
    assert "field-project" in client.get(url).content.decode()
    assert "field-project" not in client.get(f"{url}?project=hermes").content.decode()
