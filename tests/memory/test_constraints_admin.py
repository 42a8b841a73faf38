"""Constraints in the admin: found, read, stated, taken out of force and put back by people."""

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
def stated(ada: Caller) -> Constraint:
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


# -- Found -----------------------------------------------------------------------------------------


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
def test_a_list_is_searched_and_filtered(query: str, found: bool, client: Client, stated: Constraint) -> None:
    page = client.get(LIST + query.format(id=stated.pk))
    assert page.context["cl"].result_count == int(found)


def test_chinese_words_are_found_in_a_list(client: Client, ada: Caller) -> None:
    add_constraint(caller=ada, category="security", text="服務效能瓶頸")
    for typed, found in (("效能", 1), ("能效", 0)):
        assert client.get(LIST, {"q": typed}).context["cl"].result_count == found


def test_another_projects_words_find_nothing(client: Client, cy: Caller, stated: Constraint) -> None:
    add_constraint(caller=cy, category="security", text="moon")
    assert client.get(LIST, {"q": "moon"}).context["cl"].result_count == 0


def test_a_row_tells_its_story_and_leads_to_its_page(client: Client, stated: Constraint) -> None:
    text = client.get(LIST).content.decode()
    for part in (TEXT, "security", "critical", "active", "business", "ada", "just now", page_of(stated)):
        assert part in text


def test_the_list_has_the_order_of_every_list(client: Client, ada: Caller) -> None:
    for text, priority in (("a", "low"), ("b", "critical"), ("c", "low")):
        add_constraint(caller=ada, category="security", text=text, priority=priority)
    assert [row.begins for row in client.get(LIST).context["cl"].result_list] == ["b", "c", "a"]


@pytest.mark.parametrize("page", ["", "{id}/", "{id}/deactivate/"])
def test_no_page_asks_for_each_row(page: str, client: Client, ada: Caller, stated: Constraint) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST + page.format(id=stated.pk)).status_code == 200
        return len(queries)

    count()  # Django looks its content types up once.
    for n in range(5):
        add_constraint(caller=ada, category=f"c{n}", text="x", tags=[f"t{n}"], layer="data")
    few = count()
    for n in range(5, 45):
        add_constraint(caller=Caller(ada.project, f"agent-{n}"), category=f"c{n}", text="x", tags=[f"t{n}"])
    assert count() == few


# -- Read ------------------------------------------------------------------------------------------


def test_the_page_says_what_must_hold_and_why(client: Client, stated: Constraint) -> None:
    text = client.get(page_of(stated)).content.decode()
    for part in (TEXT, "It is public.", "critical", "api/auth", "src/api/**", f"constraint:{stated.pk}"):
        assert part in text
    assert "category=security" in text


def test_the_address_of_the_form_leads_to_the_page(client: Client, stated: Constraint) -> None:
    assert client.get(page_of(stated, "change/")).headers["Location"] == page_of(stated)
    assert client.post(page_of(stated, "change/"), FORM).headers["Location"] == page_of(stated)


def test_its_history_is_the_log(client: Client, stated: Constraint, ada: Caller) -> None:
    deactivate_constraint(caller=ada, constraint_id=stated.pk)
    add_constraint(caller=ada, category="security", text="x")
    history = client.get(page_of(stated, "history/"), follow=True)
    assert [event.verb for event in history.context["cl"].result_list] == ["deactivated", "created"]


@pytest.mark.parametrize("rest", ["", "change/", "history/", "deactivate/"])
def test_what_is_not_there_leads_back_to_the_list(rest: str, client: Client, stated: Constraint) -> None:
    page = client.get(f"{LIST}{stated.pk + 1}/{rest}", follow=True)
    assert page.redirect_chain[-1][0] == LIST
    assert "Perhaps it was deleted?" in page.content.decode()


def test_an_event_leads_to_the_page(client: Client, stated: Constraint) -> None:
    event = Event.objects.in_project(stated.project).get()
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] == page_of(stated)
    Constraint.objects.in_project(stated.project).delete()
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] != page_of(stated)


def test_html_in_a_constraint_is_text(client: Client, ada: Caller) -> None:
    nasty = "<script>alert(1)</script>"
    answer = add_constraint(caller=ada, category=nasty, text=nasty, tags=[nasty], reason=nasty)
    for page in (LIST, f"{LIST}{answer['id']}/", f"{LIST}{answer['id']}/deactivate/"):
        assert nasty not in client.get(page).content.decode()


# -- Stated ----------------------------------------------------------------------------------------


def test_a_person_states_what_must_hold(client: Client, apollo: Project) -> None:
    page = client.post(f"{LIST}add/", FORM, follow=True)
    made = Constraint.objects.in_project(apollo).select_related("category", "layer", "agent").get()
    assert page.redirect_chain[-1][0] == page_of(made)
    assert (made.category.name, made.text) == ("Privacy", "Names are never logged.\nNor are addresses.")
    assert (made.get_priority_display(), made.reason, str(made.layer)) == ("high", FORM["reason"], "data")
    assert sorted(tag.name for tag in made.tags.all()) == ["logging", "people"]
    assert made.paths == ["src/**", "lib/**"]
    assert last_event(apollo) == ("created", "vi", {"note": "Privacy, high"})


def test_the_form_offers_the_categories_there_are(client: Client, apollo: Project) -> None:
    text = client.get(f"{LIST}add/").content.decode()
    assert '<option value="architecture"></option>' in text


def test_what_was_stated_before_stays_and_a_sentence_says_so(client: Client, stated: Constraint) -> None:
    form = {**FORM, "category": "security", "text": TEXT}
    page = client.post(f"{LIST}add/", form, follow=True)
    text = page.content.decode()
    assert "This constraint already exists." in text
    assert "successfully" not in text
    assert "differs in priority, layer, tags, paths, reason" in text
    assert page.redirect_chain[-1][0] == page_of(stated)
    assert Constraint.objects.in_project(stated.project).count() == 1


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"text": " "}, "text must not be blank."),
        ({"category": ""}, "This field is required."),
        ({"paths": "../x"}, "must be relative to the repository"),
        ({"tags": "x" * 101}, "the limit is 100"),
        ({"reason": "ghp_" + "a1B2" * 9}, "seems to hold a credential"),
    ],
)
def test_what_is_refused_stands_on_the_form(
    client: Client, apollo: Project, changes: dict[str, str], sentence: str
) -> None:
    page = client.post(f"{LIST}add/", {**FORM, **changes})
    assert sentence in page.content.decode()
    assert not Constraint.objects.in_project(apollo).exists()


# -- Out of force, and back ------------------------------------------------------------------------


def test_deactivating_asks_for_a_reason_that_may_stay_empty(client: Client, stated: Constraint) -> None:
    page = page_of(stated, "deactivate/")
    assert "Deactivate 1 constraint<" in client.get(page).content.decode()
    assert status_of(stated) == ConstraintStatus.ACTIVE
    done = client.post(page, {"confirmed": "yes", "reason": "The law has changed."}, follow=True)
    assert "1 constraint is inactive now." in done.content.decode()
    assert last_event(stated.project) == ("deactivated", "vi", {"reason": "The law has changed."})


def test_activating_needs_a_button(client: Client, ada: Caller, stated: Constraint) -> None:
    deactivate_constraint(caller=ada, constraint_id=stated.pk)
    page = page_of(stated, "activate/")
    client.get(page)
    assert status_of(stated) == ConstraintStatus.INACTIVE
    assert client.post(page).headers["Location"] == page_of(stated)
    assert (status_of(stated), last_event(stated.project)[:2]) == (1, ("activated", "vi"))


def test_many_are_deactivated_and_activated_at_once(client: Client, ada: Caller, stated: Constraint) -> None:
    add_constraint(caller=ada, category="security", text="x")
    both = list(Constraint.objects.in_project(ada.project))
    asked = client.post(LIST, select("deactivate_selected", *both))
    assert "Deactivate 2 constraints<" in asked.content.decode()
    sent = select("deactivate_selected", *both, confirmed="yes", reason="")
    assert "2 constraints are inactive now." in client.post(LIST, sent, follow=True).content.decode()
    assert {status_of(row) for row in both} == {ConstraintStatus.INACTIVE}
    done = client.post(LIST, select("activate_selected", *both), follow=True)
    assert "2 constraints are active now." in done.content.decode()
    assert {status_of(row) for row in both} == {ConstraintStatus.ACTIVE}


def test_many_of_several_projects_change_each_in_its_own(ada: Caller, cy: Caller) -> None:
    for caller in (ada, cy):
        add_constraint(caller=caller, category="security", text="x")
    rows = list(Constraint.unscoped.all())
    superuser().post(LIST, select("deactivate_selected", *rows, confirmed="yes", reason=""))
    for caller in (ada, cy):
        assert last_event(caller.project)[:2] == ("deactivated", "root")


def test_a_reason_that_is_refused_stands_on_the_page(client: Client, stated: Constraint) -> None:
    sent = {"confirmed": "yes", "reason": "ghp_" + "a1B2" * 9}
    page = client.post(page_of(stated, "deactivate/"), sent)
    assert "seems to hold a credential" in page.content.decode()
    assert status_of(stated) == ConstraintStatus.ACTIVE


# -- Who may ---------------------------------------------------------------------------------------


def test_a_viewer_reads_and_changes_nothing(apollo: Project, stated: Constraint) -> None:
    viewer = member(apollo, VIEWER, "eve")
    text = viewer.get(page_of(stated)).content.decode()
    assert "Deactivate" not in text
    before = dump_project(apollo)
    viewer.post(page_of(stated, "deactivate/"), {"confirmed": "yes", "reason": ""})
    viewer.post(page_of(stated, "activate/"))
    viewer.post(LIST, select("deactivate_selected", stated, confirmed="yes"))
    assert viewer.post(f"{LIST}add/", FORM).status_code == 403
    assert dump_project(apollo) == before


def test_who_may_read_one_project_changes_nothing_there(
    apollo: Project, hermes: Project, ada: Caller
) -> None:
    user = person("vi", apollo, VIEWER)
    Membership.objects.create(project=hermes, user=user, role=MEMBER)
    add_constraint(caller=ada, category="security", text="x")
    row = Constraint.objects.in_project(apollo).get()
    for action in ("deactivate_selected", "activate_selected"):
        page = signed_in(user).post(LIST, select(action, row, confirmed="yes", reason=""), follow=True)
        assert "You may read these constraints, and not change them." in page.content.decode()
    assert status_of(row) == ConstraintStatus.ACTIVE


def test_another_projects_constraint_is_not_there(hermes: Project, stated: Constraint) -> None:
    stranger = member(hermes, ADMIN, "cy")
    assert stranger.get(LIST).context["cl"].result_count == 0
    before = dump_project(stated.project)
    for rest in ("", "deactivate/", "activate/", "history/", "delete/"):
        stranger.post(page_of(stated, rest), {"confirmed": "yes", "post": "yes"})
        assert TEXT not in stranger.get(page_of(stated, rest), follow=True).content.decode()
    assert dump_project(stated.project) == before


def test_an_administrator_deletes_what_should_never_have_been_written(
    apollo: Project, client: Client, stated: Constraint
) -> None:
    assert client.post(page_of(stated, "delete/"), {"post": "yes"}).status_code == 403
    member(apollo, ADMIN, "root").post(page_of(stated, "delete/"), {"post": "yes"})
    assert not Constraint.objects.in_project(apollo).exists()
    assert last_event(apollo) == ("deleted", "root", {"note": "security, critical"})


# -- Beside it -------------------------------------------------------------------------------------


def test_the_index_counts_those_in_force(client: Client, ada: Caller, stated: Constraint) -> None:
    gone = add_constraint(caller=ada, category="security", text="x")["id"]
    deactivate_constraint(caller=ada, constraint_id=gone)
    [card] = [card for card in client.get("/admin/").context["cards"] if "Constraints" in card.title]
    assert (card.title, card.value) == ("Constraints in force", 1)
    assert client.get(card.url).context["cl"].result_count == 1


def test_a_category_leads_to_its_constraints_and_can_be_renamed(
    client: Client, apollo: Project, stated: Constraint
) -> None:
    category = Category.objects.in_project(apollo).get(name="security")
    link = f'href="{LIST}?project=apollo&amp;category=security">1</a>'
    assert link in client.get(reverse("admin:core_category_changelist")).content.decode()
    client.post(reverse("admin:core_category_change", args=[category.pk]), {"name": "Safety"})
    assert last_event(apollo) == ("updated", "vi", {"was": "security"})
    assert client.get(f"{LIST}?category=safety").context["cl"].result_count == 1


def test_a_category_in_use_stays(apollo: Project, stated: Constraint) -> None:
    category = Category.objects.in_project(apollo).get(name="security")
    url = reverse("admin:core_category_delete", args=[category.pk])
    page = member(apollo, ADMIN, "root").post(url, {"post": "yes"}, follow=True)
    assert "is in use 1 times, so it stays" in page.content.decode()


def test_a_word_leads_to_decisions_and_to_constraints(client: Client, stated: Constraint) -> None:
    text = client.get(f"{reverse('admin:core_tag_changelist')}?q=security").content.decode()
    assert "1 among" in text
    assert f'href="{LIST}?project=apollo&amp;tag=security">constraints</a>' in text
