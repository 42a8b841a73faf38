"""Projects, their members, and accounts in the admin."""

from collections.abc import Mapping

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.projects import create_project
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Layer, Membership, Project
from memory.decisions.services import deprecate_decision, set_decision
from memory.models import Decision
from tests.people import ADMIN, MEMBER, VIEWER, member, person, superuser


def members_form(project: Project, *rows: Mapping[str, object]) -> dict[str, object]:
    """The form data of the project's page: its name, and the rows of its members."""
    existing = [row for row in rows if "id" in row]
    form: dict[str, object] = {
        "name": project.name,
        "memberships-TOTAL_FORMS": len(rows),
        "memberships-INITIAL_FORMS": len(existing),
    }
    for number, row in enumerate([*existing, *(row for row in rows if row not in existing)]):
        form |= {f"memberships-{number}-{name}": value for name, value in row.items()}
        form[f"memberships-{number}-project"] = project.pk
    return form


def page_of(project: Project) -> str:
    return reverse("admin:core_project_change", args=[project.pk])


def test_a_new_project_has_its_vocabulary(db: None) -> None:
    empty = {"memberships-TOTAL_FORMS": 0, "memberships-INITIAL_FORMS": 0}
    superuser().post(reverse("admin:core_project_add"), {"slug": "mars", "name": "Mars", **empty})
    assert Layer.unscoped.filter(project__slug="mars").count() == 5


@pytest.mark.parametrize("slug", ["apollo", "no spaces", "", "s" * 101])
def test_an_invalid_slug_is_shown_on_the_form(apollo: Project, slug: str) -> None:
    empty = {"memberships-TOTAL_FORMS": 0, "memberships-INITIAL_FORMS": 0}
    page = superuser().post(reverse("admin:core_project_add"), {"slug": slug, **empty})
    assert page.status_code == 200
    assert Project.objects.count() == 1


def test_the_slug_stays_when_the_name_changes(apollo: Project) -> None:
    admin = member(apollo, ADMIN, "ada")
    ada = Membership.objects.get()
    row = {"id": ada.pk, "role": ADMIN.value}
    admin.post(page_of(apollo), {**members_form(apollo, row), "name": "Moon", "slug": "moon"})
    apollo.refresh_from_db()
    assert (apollo.slug, apollo.name) == ("apollo", "Moon")


def test_an_administrator_adds_a_member_by_username(apollo: Project) -> None:
    User.objects.create_user("ben", is_staff=True)
    admin = member(apollo, ADMIN, "ada")
    ada = {"id": Membership.objects.get().pk, "role": ADMIN.value}
    admin.post(page_of(apollo), members_form(apollo, ada, {"user": "ben", "role": VIEWER.value}))
    assert Membership.objects.get(user__username="ben").role == VIEWER


def test_an_unknown_username_is_shown_on_the_form(apollo: Project) -> None:
    admin = member(apollo, ADMIN, "ada")
    ada = {"id": Membership.objects.get().pk, "role": ADMIN.value}
    page = admin.post(page_of(apollo), members_form(apollo, ada, {"user": "nobody", "role": 2}))
    assert "There is no account with this name." in page.content.decode()


def test_an_account_with_the_name_of_an_agent_is_not_added(apollo: Project) -> None:
    Agent.objects.create(project=apollo, name="Ben", folded="ben")
    User.objects.create_user("ben", is_staff=True)
    admin = member(apollo, ADMIN, "ada")
    ada = {"id": Membership.objects.get().pk, "role": ADMIN.value}
    page = admin.post(page_of(apollo), members_form(apollo, ada, {"user": "ben", "role": VIEWER.value}))
    text = page.content.decode()
    assert "An agent of apollo is called &#x27;Ben&#x27;" in text
    assert "An invitation asks them for one." in text
    assert not Membership.objects.filter(user__username="ben").exists()


def test_an_administrator_changes_the_role_of_a_member_and_removes_them(apollo: Project) -> None:
    admin = member(apollo, ADMIN, "ada")
    person("ben", apollo)
    ada, ben = ({"id": row.pk, "role": row.role} for row in Membership.objects.order_by("pk"))
    admin.post(page_of(apollo), members_form(apollo, ada, {**ben, "role": VIEWER.value}))
    assert Membership.objects.get(user__username="ben").role == VIEWER
    admin.post(page_of(apollo), members_form(apollo, ada, {**ben, "DELETE": "on"}))
    assert not Membership.objects.filter(user__username="ben").exists()


def test_members_see_no_one_else_in_the_project(apollo: Project) -> None:
    person("ben", apollo)
    page = member(apollo, MEMBER, "vi").get(page_of(apollo))
    assert "ben" not in page.content.decode()


@pytest.mark.every_engine
def test_deleting_a_project_shows_its_counts_and_deletes_its_rows(
    apollo: Project, ada: Caller, cy: Caller
) -> None:
    for caller in (ada, cy):
        set_decision(caller=caller, key="old", value=1, layer="data", tags=["api"], scopes=["api/*"])
        set_decision(caller=caller, key="new", value=2)
        deprecate_decision(caller=caller, key="old", superseded_by="new")
        create_token(project=caller.project, agent=caller.agent)
    client = superuser()
    url = reverse("admin:core_project_delete", args=[apollo.pk])
    person("ben", apollo)
    question = client.get(url).content.decode()
    counts = ("Decisions: 2", "Decision revisions: 1", "Access tokens: 1", "Memberships: 1", "Events: 3")
    assert [count for count in counts if count not in question] == []
    client.post(url, {"post": "yes"})
    assert list(Project.objects.all()) == [cy.project]
    assert Decision.unscoped.count() == 2


def test_an_account_is_created_with_its_membership(apollo: Project) -> None:
    form = {
        "username": "ben",
        "usable_password": "true",
        "password1": "correct-horse-battery",
        "password2": "correct-horse-battery",
        "is_staff": "on",
        "memberships-TOTAL_FORMS": 1,
        "memberships-INITIAL_FORMS": 0,
        "memberships-0-project": apollo.pk,
        "memberships-0-role": MEMBER.value,
    }
    superuser().post(reverse("admin:auth_user_add"), form)
    browser = Client()
    assert browser.login(username="ben", password="correct-horse-battery")
    assert browser.get(reverse("admin:memory_decision_changelist")).status_code == 200


@pytest.mark.parametrize("name", ["ben", "Ben", "b" * 101])
def test_an_account_is_not_made_with_the_name_of_an_agent_of_its_project(name: str, apollo: Project) -> None:
    Agent.objects.create(project=apollo, name="Ben", folded="ben")
    form = {
        "username": name,
        "usable_password": "true",
        "password1": "correct-horse-battery",
        "password2": "correct-horse-battery",
        "memberships-TOTAL_FORMS": 1,
        "memberships-INITIAL_FORMS": 0,
        "memberships-0-project": apollo.pk,
        "memberships-0-role": MEMBER.value,
    }
    assert superuser().post(reverse("admin:auth_user_add"), form).status_code == 200
    assert not User.objects.filter(username=name).exists()


@pytest.mark.parametrize("change", [{"username": "Claude"}, {"username": "eve", "is_superuser": "on"}])
def test_an_account_gets_no_name_of_an_agent(change: dict[str, str], apollo: Project) -> None:
    for name in ("claude", "eve"):
        Agent.objects.create(project=apollo, name=name, folded=name)
    user = User.objects.create_user("eve", is_staff=True)
    if "is_superuser" not in change:
        user.username = "ben"
        user.save()
        Membership.objects.create(project=apollo, user=user)
    url = reverse("admin:auth_user_change", args=[user.pk])
    rows = Membership.objects.filter(user=user)
    form = {"username": user.username, "is_active": "on", "is_staff": "on", **change}
    form |= {"memberships-TOTAL_FORMS": str(len(rows)), "memberships-INITIAL_FORMS": str(len(rows))}
    for row in rows:
        form |= {"memberships-0-id": str(row.pk), "memberships-0-user": str(user.pk)}
        form |= {"memberships-0-project": str(apollo.pk), "memberships-0-role": str(row.role)}
    page = superuser().post(url, form)
    assert "An agent of apollo is called" in page.content.decode()
    user.refresh_from_db()
    assert (user.username in ("ben", "eve"), user.is_superuser) == (True, False)


def test_the_list_of_accounts_shows_projects_and_roles(apollo: Project) -> None:
    person("ben", apollo, VIEWER)
    assert "apollo (viewer)" in superuser().get(reverse("admin:auth_user_changelist")).content.decode()


@pytest.mark.parametrize("page", ["/admin/auth/user/", "/admin/core/project/", "/admin/core/accesstoken/"])
def test_no_list_runs_a_query_per_row(page: str, apollo: Project) -> None:
    client = superuser()
    add_people(apollo, range(5))
    few = count_queries(client, page)
    add_people(apollo, range(5, 50))
    assert count_queries(client, page) == few


def test_pages_with_memberships_run_no_query_per_row(apollo: Project) -> None:
    client = superuser()
    everywhere = person("everywhere", apollo)
    pages = (page_of(apollo), reverse("admin:auth_user_change", args=[everywhere.pk]))

    def count(numbers: range) -> list[int]:
        add_people(apollo, numbers)
        for number in numbers:
            Membership.objects.create(project=create_project(slug=f"p{number}"), user=everywhere)
        return [count_queries(client, page) for page in pages]

    assert count(range(5)) == count(range(5, 50))


def add_people(project: Project, numbers: range) -> None:
    """Adds a member with an access token for each number."""
    for number in numbers:
        user = person(f"person-{number}", project)
        create_token(project=project, agent=f"agent-{number}", created_by=user)


def count_queries(client: Client, address: str) -> int:
    client.get(address)  # Django looks up its content types only once.
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


def test_rights_are_explained_and_groups_are_hidden(apollo: Project) -> None:
    client = superuser()
    page = client.get(reverse("admin:auth_user_change", args=[person("ben", apollo).pk])).content.decode()
    assert "Can see and do everything in every project" in page
    assert 'name="groups"' not in page
    assert client.get("/admin/auth/group/").status_code == 404


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("kind", "names"), [("superuser", ["root"]), ("staff", ["ben"]), ("cannot sign in", ["gone"])]
)
def test_accounts_are_filtered_by_kind(kind: str, names: list[str], apollo: Project) -> None:
    client = superuser()
    person("ben", apollo)
    User.objects.create_user("gone", is_staff=True, is_active=False)
    page = client.get(reverse("admin:auth_user_changelist"), {"kind": kind})
    assert [user.get_username() for user in page.context["cl"].result_list] == names
