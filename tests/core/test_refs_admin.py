"""Refs in the admin: each leads to the page of its row, and a search for it finds the row."""

import pytest
from django.contrib import admin
from django.test import Client

from ctxhub.console import refs
from ctxhub.console.logged import LoggedAdmin
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.constraints.services import add_constraint
from memory.contexts.services import create_context
from memory.decisions.services import set_decision
from memory.snapshots.services import save_snapshot
from memory.templates.services import set_template
from sessions.sittings.services import save_session
from tests.people import ADMIN, member
from tracking.changes.services import record_change
from tracking.leases.services import acquire_lease

pytestmark = pytest.mark.usefixtures("index_is_kept")


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, ADMIN)


@pytest.fixture
def rows(ada: Caller) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT", tags=["API"])
    add_constraint(caller=ada, category="security", text="x")
    create_context(caller=ada, name="Ops")
    set_template(caller=ada, name="Own", require=["rationale"])
    save_snapshot(caller=ada, content="x", source="mcp")
    record_change(caller=ada, path="src/a.py", change="created", description="x")
    acquire_lease(caller=ada, paths=["src/**"])
    save_session(caller=ada, summary="x")


def admin_of(kind: str) -> LoggedAdmin:
    admins = (
        model_admin for model_admin in admin.site._registry.values() if isinstance(model_admin, LoggedAdmin)
    )
    return next(model_admin for model_admin in admins if model_admin.ref_kind == kind)


BY_NAME = ("decision:api/auth", "tag:api", "template:own", "resource:src/a.py", "context:ops")
BY_NUMBER = ("constraint", "snapshot", "lease", "change", "session")


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("ref", BY_NAME)
def test_a_ref_by_name_leads_to_a_page(ref: str, client: Client, ada: Caller) -> None:
    page = refs.page_of(ada.project_id, ref)
    assert page
    assert client.get(page).status_code == 200
    assert refs.page_of(ada.project_id, f"{ref}-not") is None


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("kind", BY_NUMBER)
def test_a_ref_by_number_leads_to_a_page(kind: str, client: Client, ada: Caller) -> None:
    row = admin_of(kind).model.objects.in_project(ada.project).get()
    page = refs.page_of(ada.project_id, f"{kind}:{row.pk}")
    assert page == admin_of(kind).page_of_id(row.pk)
    assert client.get(page).status_code == 200
    assert refs.page_of(ada.project_id, f"{kind}:{row.pk + 1}") is None


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("kind", ["tag", "template", "resource", *BY_NUMBER])
def test_a_pasted_ref_finds_its_row(kind: str, client: Client, ada: Caller) -> None:
    row = admin_of(kind).model.objects.in_project(ada.project).latest("pk")
    page = client.get(admin_of(kind).url("changelist"), {"q": admin_of(kind).ref_of(row)})
    assert list(page.context["cl"].result_list) == [row]


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("kind", ["decision", "tag", "template", "resource", *BY_NUMBER])
def test_the_history_of_an_unknown_row_redirects_to_the_list(kind: str, client: Client) -> None:
    page = client.get(admin_of(kind).url("history", 987654), follow=True)
    assert page.redirect_chain[-1][0] == admin_of(kind).url("changelist")
    assert admin_of(kind).why_missing in page.content.decode()
