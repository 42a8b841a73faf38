"""Constraints in the admin: paths as they are typed, deactivating and activating, categories and tags."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Category, Event, Membership, Project
from ctxhub.toolbox.dispatch import call
from memory.constraints.services import add_constraint, deactivate_constraint
from memory.models import Constraint, ConstraintStatus, Decision
from tests.people import ADMIN, MEMBER, VIEWER, member, person, signed_in, superuser

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/constraint/"
TEXT = "Every address of the API asks for a token."
FORM = {"category": "Privacy", "text": "Names are never logged.", "priority": "high", "layer": "data"}
FORM |= {"reason": "The law says so.", "tags": "logging", "paths": "src/**"}


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def constraint(ada: Caller) -> Constraint:
    answer = add_constraint(
        caller=ada,
        category="security",
        text=TEXT,
        priority="critical",
        layer="business",
        tags=["api", "security"],
        scopes=["api/auth"],
        paths=["src/api/**"],
        reason="It is public.",
    )
    return Constraint.objects.in_project(ada.project).get(pk=answer["id"])


def page_of(constraint: Constraint, rest: str = "") -> str:
    return f"{LIST}{constraint.pk}/{rest}"


def status_of(constraint: Constraint) -> int:
    constraint.refresh_from_db()
    return constraint.status


def last_event(project: Project) -> tuple[str, str, dict[str, Any]]:
    event = Event.objects.in_project(project).select_related("agent").latest("pk")
    return event.verb, str(event.agent), event.data


def select(action: str, *constraints: Constraint, **more: Any) -> dict[str, Any]:
    return {"action": action, "_selected_action": [row.pk for row in constraints], **more}


# -- Lists -----------------------------------------------------------------------------------------


def test_the_list_is_ordered_like_other_constraint_lists(client: Client, ada: Caller) -> None:
    for text, priority in (("a", "low"), ("b", "critical"), ("c", "low")):
        add_constraint(caller=ada, category="security", text=text, priority=priority)
    assert [row.begins for row in client.get(LIST).context["cl"].result_list] == ["b", "c", "a"]


# -- Adding ----------------------------------------------------------------------------------------


def test_a_person_writes_braces_and_exempts_files(client: Client, apollo: Project) -> None:
    client.post(f"{LIST}add/", {**FORM, "paths": "src/*.{ts,tsx}\r\n!src/gen.ts"})
    added = Constraint.objects.in_project(apollo).get()
    assert added.paths == ["src/*.ts", "src/*.tsx", "!src/gen.ts"]
    page = client.get(page_of(added)).content.decode()
    assert all(path in page for path in added.paths)


def test_the_paths_of_the_form_are_read_as_agents_write_them(client: Client, apollo: Project) -> None:
    client.post(f"{LIST}add/", {**FORM, "paths": "`src/a.py:42`\r\nlib/*.ts, lib/*.{js,jsx}"})
    added = Constraint.objects.in_project(apollo).get()
    assert added.paths == ["src/a.py", "lib/*.ts", "lib/*.js", "lib/*.jsx"]
    page = client.post(f"{LIST}add/", {**FORM, "text": "Another.", "paths": "~/src/a.py"})
    assert "is in a home folder" in page.content.decode()
    assert Constraint.objects.in_project(apollo).count() == 1


def test_the_form_suggests_existing_categories(client: Client, apollo: Project) -> None:
    text = client.get(f"{LIST}add/").content.decode()
    assert '<option value="architecture"></option>' in text


def test_adding_an_existing_constraint_keeps_it_and_shows_a_message(
    client: Client, constraint: Constraint
) -> None:
    form = {**FORM, "category": "security", "text": TEXT}
    page = client.post(f"{LIST}add/", form, follow=True)
    text = page.content.decode()
    assert "This constraint already exists." in text
    assert "successfully" not in text
    assert "differs in priority, layer, tags, paths, reason" in text
    assert page.redirect_chain[-1][0] == page_of(constraint)
    assert Constraint.objects.in_project(constraint.project).count() == 1


# -- Deactivating and activating -------------------------------------------------------------------


def test_deactivating_needs_confirmation_and_records_the_reason(
    client: Client, constraint: Constraint
) -> None:
    page = page_of(constraint, "deactivate/")
    assert "Deactivate 1 constraint<" in client.get(page).content.decode()
    assert status_of(constraint) == ConstraintStatus.ACTIVE
    answer = client.post(page, {"confirmed": "yes", "reason": "The law has changed."}, follow=True)
    assert "1 constraint is inactive now." in answer.content.decode()
    assert last_event(constraint.project) == (
        "deactivated",
        "vi",
        {"reason": "The law has changed.", "priority": "critical"},
    )


def test_only_a_post_activates_a_constraint(client: Client, ada: Caller, constraint: Constraint) -> None:
    deactivate_constraint(caller=ada, constraint_id=constraint.pk)
    page = page_of(constraint, "activate/")
    client.get(page)
    assert status_of(constraint) == ConstraintStatus.INACTIVE
    assert client.post(page).headers["Location"] == page_of(constraint)
    assert (status_of(constraint), last_event(constraint.project)[:2]) == (1, ("activated", "vi"))


def test_list_actions_deactivate_and_activate_several(
    client: Client, ada: Caller, constraint: Constraint
) -> None:
    add_constraint(caller=ada, category="security", text="x")
    both = list(Constraint.objects.in_project(ada.project))
    confirmation = client.post(LIST, select("deactivate_selected", *both))
    assert "Deactivate 2 constraints<" in confirmation.content.decode()
    sent = select("deactivate_selected", *both, confirmed="yes", reason="")
    assert "2 constraints are inactive now." in client.post(LIST, sent, follow=True).content.decode()
    assert {status_of(row) for row in both} == {ConstraintStatus.INACTIVE}
    answer = client.post(LIST, select("activate_selected", *both), follow=True)
    assert "2 constraints are active now." in answer.content.decode()
    assert {status_of(row) for row in both} == {ConstraintStatus.ACTIVE}


def test_a_list_action_on_several_projects_records_an_event_in_each(ada: Caller, cy: Caller) -> None:
    for caller in (ada, cy):
        add_constraint(caller=caller, category="security", text="x")
    rows = list(Constraint.unscoped.all())
    superuser().post(LIST, select("deactivate_selected", *rows, confirmed="yes", reason=""))
    for caller in (ada, cy):
        assert last_event(caller.project)[:2] == ("deactivated", "root")


def test_the_deactivation_page_shows_validation_errors(client: Client, constraint: Constraint) -> None:
    sent = {"confirmed": "yes", "reason": "ghp_" + "a1B2" * 9}
    page = client.post(page_of(constraint, "deactivate/"), sent)
    assert "seems to hold a credential" in page.content.decode()
    assert status_of(constraint) == ConstraintStatus.ACTIVE


# -- Permissions -----------------------------------------------------------------------------------


def test_a_viewer_of_one_project_and_member_of_another_cannot_change_the_first(
    apollo: Project, hermes: Project, ada: Caller
) -> None:
    user = person("vi", apollo, VIEWER)
    Membership.objects.create(project=hermes, user=user, role=MEMBER)
    add_constraint(caller=ada, category="security", text="x")
    row = Constraint.objects.in_project(apollo).get()
    for action in ("deactivate_selected", "activate_selected"):
        page = signed_in(user).post(LIST, select(action, row, confirmed="yes", reason=""), follow=True)
        assert "You can read these constraints, but you cannot change them." in page.content.decode()
    assert status_of(row) == ConstraintStatus.ACTIVE


# -- Index, categories and tags --------------------------------------------------------------------


def test_the_admin_index_counts_active_constraints(
    client: Client, ada: Caller, constraint: Constraint
) -> None:
    inactive_id = add_constraint(caller=ada, category="security", text="x")["id"]
    deactivate_constraint(caller=ada, constraint_id=inactive_id)
    [counted] = [each for each in client.get("/admin/").context["inventory"] if "constraint" in each.text]
    assert counted.text == "1 constraint in force"
    assert client.get(counted.url).context["cl"].result_count == 1


def test_a_category_links_to_its_constraints_and_can_be_renamed(
    client: Client, apollo: Project, constraint: Constraint
) -> None:
    category = Category.objects.in_project(apollo).get(name="security")
    link = f'href="{LIST}?project=apollo&amp;category=security">1</a>'
    assert link in client.get(reverse("admin:core_category_changelist")).content.decode()
    client.post(reverse("admin:core_category_change", args=[category.pk]), {"name": "Safety"})
    assert last_event(apollo) == ("updated", "vi", {"was": "security"})
    assert client.get(f"{LIST}?category=safety").context["cl"].result_count == 1


def test_a_category_in_use_cannot_be_deleted(apollo: Project, constraint: Constraint) -> None:
    category = Category.objects.in_project(apollo).get(name="security")
    url = reverse("admin:core_category_delete", args=[category.pk])
    page = member(apollo, ADMIN, "root").post(url, {"post": "yes"}, follow=True)
    assert "cannot be deleted while it is in use. It is used once." in page.content.decode()


def test_a_tag_links_to_decisions_and_to_constraints(client: Client, constraint: Constraint) -> None:
    text = client.get(f"{reverse('admin:core_tag_changelist')}?q=security").content.decode()
    assert "1 among" in text
    assert f'href="{LIST}?project=apollo&amp;tag=security">constraints</a>' in text


# -- What it is called -----------------------------------------------------------------------------

LONG = "No request waits for a lock of the database. " * 20


def test_a_constraint_is_called_by_its_text(client: Client, constraint: Constraint, ada: Caller) -> None:
    page = client.get(page_of(constraint)).content.decode()
    assert f"<title> constraint {TEXT} | " in " ".join(page.split())
    assert f'<h2 class="ctx-title ctx-plain"><bdi>{TEXT}</bdi></h2>' in page
    assert "What must hold" not in page, "the heading says it"
    breadcrumbs = re.sub(r"<.*?>", " ", page.partition("<main")[0])
    assert TEXT in breadcrumbs
    assert f"Constraint {constraint.pk}" not in page


def test_a_long_text_is_cut_in_the_title_alone(client: Client, ada: Caller) -> None:
    made = add_constraint(caller=ada, category="speed", text=f"First\n{LONG}")["id"]
    page = client.get(f"{LIST}{made}/").content.decode()
    [heading] = re.findall(r'<h2 class="ctx-title ctx-plain"><bdi>(.*?)</bdi>', page)
    assert heading.startswith("First No request waits")
    assert (heading[-1], len(heading) <= 121) == ("…", True)
    assert "What must hold" in page
    assert LONG.strip() in page


@pytest.mark.parametrize("url", ["/admin/search/?q=token", "/admin/palette/?q=token"])
def test_a_hit_is_called_by_the_text_of_the_constraint(
    client: Client, constraint: Constraint, url: str
) -> None:
    page = client.get(url).content.decode()
    [link] = re.findall(rf'<a [^>]*href="{page_of(constraint)}".*?</a>', page, re.DOTALL)
    assert TEXT in re.sub(r"<.*?>", "", link)


def test_what_links_to_a_constraint_names_its_text(
    client: Client, constraint: Constraint, ada: Caller
) -> None:
    call(ada, "decision", {"key": "api/auth", "value": "JWT"})
    ends = {"source": "decision:api/auth", "target": constraint.ref}
    call(ada, "memory", {"action": "relate", **ends})
    decision = Decision.objects.in_project(ada.project).get()
    page = client.get(f"/admin/memory/decision/{decision.pk}/").content.decode()
    assert f'href="{page_of(constraint)}#links">{TEXT}</a>' in page
