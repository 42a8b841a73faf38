"""Constraints in the admin: lists, pages, adding, deactivating, activating and permissions."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Category, Event, Membership, Project
from memory.constraints.services import add_constraint, deactivate_constraint
from memory.models import Constraint, ConstraintStatus
from tests.people import ADMIN, MEMBER, VIEWER, member, person, signed_in, superuser
from tests.tables import dump_project

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/constraint/"
TEXT = "Every address of the API asks for a token."
FORM: dict[str, Any] = {
    "category": "Privacy",
    "text": "Names are never logged.\r\nNor are addresses.",
    "priority": "high",
    "reason": "The law says so.",
    "layer": "data",
    "tags": "logging, people",
    "scopes": "",
    "paths": "src/**\r\nlib/**",
}


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


@pytest.mark.every_engine
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?q=address", True),
        ("?q=public", True),
        ("?q=addresses", True),
        ("?q=secur+addr", True),
        ("?q=address+-security", False),
        ("?q=constraint:{id}", True),
        ("?q=constraint:0", False),
        ("?q=constraint:99999999999999999999", False),
        ("?q=nothing", False),
        ("?category=Security", True),
        ("?category=architecture", False),
        ("?priority__exact=4", True),
        ("?priority__exact=1", False),
        ("?status__exact=1", True),
        ("?status__exact=2", False),
        ("?layer=business", True),
        ("?layer=data", False),
        ("?tag=API", True),
        ("?tag=nosuch", False),
        ("?scope=api/auth", True),
        ("?agent=ada", True),
        ("?agent=ben", False),
        ("?project=apollo", True),
    ],
)
def test_a_list_is_searched_and_filtered(
    query: str, found: bool, client: Client, constraint: Constraint
) -> None:
    page = client.get(LIST + query.format(id=constraint.pk))
    assert page.context["cl"].result_count == int(found)


@pytest.mark.every_engine
def test_chinese_words_are_found_in_a_list(client: Client, ada: Caller) -> None:
    add_constraint(caller=ada, category="security", text="服務效能瓶頸")
    for typed, found in (("效能", 1), ("能效", 0)):
        assert client.get(LIST, {"q": typed}).context["cl"].result_count == found


def test_the_search_finds_nothing_of_another_project(
    client: Client, cy: Caller, constraint: Constraint
) -> None:
    add_constraint(caller=cy, category="security", text="moon")
    assert client.get(LIST, {"q": "moon"}).context["cl"].result_count == 0


def test_a_row_shows_its_fields_and_links_to_its_page(client: Client, constraint: Constraint) -> None:
    text = client.get(LIST).content.decode()
    for part in (TEXT, "security", "critical", "active", "business", "ada", "just now", page_of(constraint)):
        assert part in text


def test_the_list_is_ordered_like_other_constraint_lists(client: Client, ada: Caller) -> None:
    for text, priority in (("a", "low"), ("b", "critical"), ("c", "low")):
        add_constraint(caller=ada, category="security", text=text, priority=priority)
    assert [row.begins for row in client.get(LIST).context["cl"].result_list] == ["b", "c", "a"]


@pytest.mark.parametrize("page", ["", "{id}/", "{id}/deactivate/"])
def test_the_number_of_queries_does_not_grow_with_rows(
    page: str, client: Client, ada: Caller, constraint: Constraint
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST + page.format(id=constraint.pk)).status_code == 200
        return len(queries)

    count()  # Fills Django's cache of content types.
    for n in range(5):
        add_constraint(caller=ada, category=f"c{n}", text="x", tags=[f"t{n}"], layer="data")
    few = count()
    for n in range(5, 45):
        add_constraint(caller=Caller(ada.project, f"agent-{n}"), category=f"c{n}", text="x", tags=[f"t{n}"])
    assert count() == few


# -- Pages -----------------------------------------------------------------------------------------


def test_the_page_shows_all_fields_of_a_constraint(client: Client, constraint: Constraint) -> None:
    text = client.get(page_of(constraint)).content.decode()
    for part in (TEXT, "It is public.", "critical", "api/auth", "src/api/**", f"constraint:{constraint.pk}"):
        assert part in text
    assert "category=security" in text


def test_the_change_url_redirects_to_the_page(client: Client, constraint: Constraint) -> None:
    assert client.get(page_of(constraint, "change/")).headers["Location"] == page_of(constraint)
    assert client.post(page_of(constraint, "change/"), FORM).headers["Location"] == page_of(constraint)


def test_the_history_lists_the_events_of_the_constraint(
    client: Client, constraint: Constraint, ada: Caller
) -> None:
    deactivate_constraint(caller=ada, constraint_id=constraint.pk)
    add_constraint(caller=ada, category="security", text="x")
    history = client.get(page_of(constraint, "history/"), follow=True)
    assert [event.verb for event in history.context["cl"].result_list] == ["deactivated", "created"]


@pytest.mark.parametrize("rest", ["", "change/", "history/", "deactivate/"])
def test_pages_of_an_unknown_constraint_redirect_to_the_list(
    rest: str, client: Client, constraint: Constraint
) -> None:
    page = client.get(f"{LIST}{constraint.pk + 1}/{rest}", follow=True)
    assert page.redirect_chain[-1][0] == LIST
    assert "Perhaps it was deleted?" in page.content.decode()


def test_an_event_redirects_to_the_page(client: Client, constraint: Constraint) -> None:
    event = Event.objects.in_project(constraint.project).get()
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] == page_of(constraint)
    Constraint.objects.in_project(constraint.project).delete()
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] != page_of(constraint)


def test_html_in_a_constraint_is_escaped(client: Client, ada: Caller) -> None:
    html = "<script>alert(1)</script>"
    answer = add_constraint(caller=ada, category=html, text=html, tags=[html], reason=html)
    for page in (LIST, f"{LIST}{answer['id']}/", f"{LIST}{answer['id']}/deactivate/"):
        assert html not in client.get(page).content.decode()


# -- Adding ----------------------------------------------------------------------------------------


def test_a_person_adds_a_constraint(client: Client, apollo: Project) -> None:
    page = client.post(f"{LIST}add/", FORM, follow=True)
    added = Constraint.objects.in_project(apollo).select_related("category", "layer", "agent").get()
    assert page.redirect_chain[-1][0] == page_of(added)
    assert (added.category.name, added.text) == ("Privacy", "Names are never logged.\nNor are addresses.")
    assert (added.get_priority_display(), added.reason, str(added.layer)) == ("high", FORM["reason"], "data")
    assert sorted(tag.name for tag in added.tags.all()) == ["logging", "people"]
    assert added.paths == ["src/**", "lib/**"]
    assert last_event(apollo) == ("created", "vi", {"note": "Privacy, high", "priority": "high"})


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": " "}, "text must not be blank."),
        ({"category": ""}, "This field is required."),
        ({"paths": "../x"}, "must be relative to the repository"),
        ({"paths": "src/*.@(ts|tsx)"}, "has the extended glob @("),
        ({"paths": "!src/gen/**"}, "comes first and exempts nothing"),
        ({"tags": "x" * 101}, "the limit is 100"),
        ({"reason": "ghp_" + "a1B2" * 9}, "seems to hold a credential"),
    ],
)
def test_the_form_shows_validation_errors(
    client: Client, apollo: Project, changes: dict[str, str], message: str
) -> None:
    page = client.post(f"{LIST}add/", {**FORM, **changes})
    assert message in page.content.decode()
    assert not Constraint.objects.in_project(apollo).exists()


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


def test_a_viewer_reads_and_changes_nothing(apollo: Project, constraint: Constraint) -> None:
    viewer = member(apollo, VIEWER, "eve")
    text = viewer.get(page_of(constraint)).content.decode()
    assert "Deactivate" not in text
    before = dump_project(apollo)
    viewer.post(page_of(constraint, "deactivate/"), {"confirmed": "yes", "reason": ""})
    viewer.post(page_of(constraint, "activate/"))
    viewer.post(LIST, select("deactivate_selected", constraint, confirmed="yes"))
    assert viewer.post(f"{LIST}add/", FORM).status_code == 403
    assert dump_project(apollo) == before


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


def test_a_constraint_of_another_project_is_neither_shown_nor_changed(
    hermes: Project, constraint: Constraint
) -> None:
    stranger = member(hermes, ADMIN, "cleo")
    assert stranger.get(LIST).context["cl"].result_count == 0
    before = dump_project(constraint.project)
    for rest in ("", "deactivate/", "activate/", "history/", "delete/"):
        stranger.post(page_of(constraint, rest), {"confirmed": "yes", "post": "yes"})
        assert TEXT not in stranger.get(page_of(constraint, rest), follow=True).content.decode()
    assert dump_project(constraint.project) == before


def test_only_an_administrator_can_delete(apollo: Project, client: Client, constraint: Constraint) -> None:
    assert client.post(page_of(constraint, "delete/"), {"post": "yes"}).status_code == 403
    member(apollo, ADMIN, "root").post(page_of(constraint, "delete/"), {"post": "yes"})
    assert not Constraint.objects.in_project(apollo).exists()
    assert last_event(apollo) == ("deleted", "root", {"note": "security, critical", "priority": "critical"})


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
