"""Contexts in the admin: found, read with their newest memories, made, changed and deleted by people."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.memories.services.contexts import create_context, update_context
from memory.memories.services.memories import add_memory
from memory.models import Context, Memory
from tests.people import ADMIN, VIEWER, member
from tests.tables import dump_project

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/context/"
FORM: dict[str, Any] = {
    "name": "Sessions",
    "description": "Who is signed in.\r\nAnd for how long.",
    "stack": "django",
    "tags": "people, brand-new",
    "metadata": '{"owner": "platform"}',
}


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def caching(ada: Caller) -> Context:
    answer = create_context(
        caller=ada,
        name="Caching",
        description="What is known of Redis evictions.",
        tags=["caching"],
        stack="redis",
        metadata={"owner": "platform"},
    )
    return Context.objects.in_project(ada.project).get(pk=answer["id"])


def page_of(context: Context, rest: str = "") -> str:
    return f"{LIST}{context.pk}/{rest}"


def remember(caller: Caller, *titles: str, context: str = "Caching") -> None:
    for title in titles:
        add_memory(caller=caller, title=title, content="x", context=context)


def last_event(project: Project) -> tuple[str, str, str]:
    event = Event.objects.in_project(project).select_related("agent").latest("pk")
    return event.verb, event.noun, str(event.agent)


# -- Found -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?q=caching", True),
        ("?q=eviction", True),
        ("?q=context:{id}", True),
        ("?q=context:0", False),
        ("?q=nothing", False),
        ("?tag=Caching", True),
        ("?tag=nosuch", False),
        ("?agent=ada", True),
        ("?agent=ben", False),
        ("?project=apollo", True),
    ],
)
def test_a_list_is_searched_and_filtered(query: str, found: bool, client: Client, caching: Context) -> None:
    page = client.get(LIST + query.format(id=caching.pk))
    assert page.context["cl"].result_count == int(found)


def test_a_row_counts_its_memories_and_leads_to_them(client: Client, ada: Caller, caching: Context) -> None:
    remember(ada, "one", "two")
    remember(ada, "three", context="Other")
    text = client.get(f"{LIST}?q=eviction").content.decode()
    for part in (page_of(caching), "redis", "caching", "ada", "just now"):
        assert part in text
    assert 'href="/admin/memory/memory/?project=apollo&amp;context=Caching">2</a>' in text


@pytest.mark.parametrize("page", ["", "{id}/"])
def test_no_page_asks_for_each_row(page: str, client: Client, ada: Caller, caching: Context) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST + page.format(id=caching.pk)).status_code == 200
        return len(queries)

    count()  # Django looks its content types up once.
    for n in range(3):
        create_context(caller=ada, name=f"c{n}", tags=[f"t{n}"])
        remember(ada, f"m{n}")
    few = count()
    for n in range(3, 20):
        create_context(caller=ada.speaking_as(f"agent-{n}"), name=f"c{n}", tags=[f"t{n}"])
        remember(ada.speaking_as(f"agent-{n}"), f"m{n}")
    assert count() == few


# -- Read ------------------------------------------------------------------------------------------


def test_the_page_shows_what_it_is_and_its_newest_memories(
    client: Client, ada: Caller, caching: Context
) -> None:
    remember(ada, *(f"Memory {n}" for n in range(15)))
    page = client.get(page_of(caching))
    text = page.content.decode()
    assert [memory.title for memory in page.context["newest"]] == [f"Memory {n}" for n in range(14, 2, -1)]
    for part in ("Redis evictions", "platform", f"context:{caching.pk}", ">All 15</a>"):
        assert part in text
    assert client.get(page.context["list_of_memories"]).context["cl"].result_count == 15


def test_an_empty_context_says_so(client: Client, caching: Context) -> None:
    assert "None yet." in client.get(page_of(caching)).content.decode()


def test_its_history_is_the_log(client: Client, ada: Caller, caching: Context) -> None:
    update_context(caller=ada, context="caching", stack="valkey")
    history = client.get(page_of(caching, "history/"), follow=True)
    assert [event.verb for event in history.context["cl"].result_list] == ["updated", "created"]


def test_an_event_leads_to_the_page(client: Client, caching: Context) -> None:
    event = Event.objects.in_project(caching.project).get(noun="context")
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] == page_of(caching)


@pytest.mark.parametrize("rest", ["", "history/"])
def test_what_is_not_there_leads_back_to_the_list(rest: str, client: Client, caching: Context) -> None:
    page = client.get(f"{LIST}{caching.pk + 1}/{rest}", follow=True)
    assert page.redirect_chain[-1][0] == LIST
    assert "Perhaps it was deleted?" in page.content.decode()


def test_html_in_a_context_is_text(client: Client, ada: Caller) -> None:
    nasty = "<script>alert(1)</script>"
    made = create_context(caller=ada, name=nasty, description=nasty, stack=nasty, tags=[nasty])
    remember(ada, nasty, context=nasty)
    for page in (LIST, f"{LIST}{made['id']}/", f"{LIST}{made['id']}/change/", f"{LIST}{made['id']}/delete/"):
        assert nasty not in client.get(page).content.decode()


# -- Written ---------------------------------------------------------------------------------------


def test_a_person_makes_a_context(client: Client, apollo: Project) -> None:
    page = client.post(f"{LIST}add/", FORM, follow=True)
    made = Context.objects.in_project(apollo).get()
    assert page.redirect_chain[-1][0] == page_of(made)
    assert (made.name, made.description) == ("Sessions", "Who is signed in.\nAnd for how long.")
    assert (made.stack, made.metadata) == ("django", {"owner": "platform"})
    assert sorted(tag.name for tag in made.tags.all()) == ["brand-new", "people"]
    assert last_event(apollo) == ("created", "context", "vi")


def test_only_what_was_changed_is_changed(client: Client, caching: Context) -> None:
    shown = {"name": "Caching", "description": caching.description, "stack": "redis", "tags": "caching"}
    client.post(page_of(caching, "change/"), shown | {"stack": "", "metadata": '{"a": 1}'})
    caching.refresh_from_db()
    assert (caching.name, caching.stack, caching.metadata) == ("Caching", "", {"a": 1})
    assert [tag.name for tag in caching.tags.all()] == ["caching"]
    assert last_event(caching.project) == ("updated", "context", "vi")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "caching"}, "caching"),
        ({"name": "42"}, "digits"),
        ({"name": "x" * 201}, "at most 200 characters"),
        ({"metadata": "no"}, "Write a JSON object"),
        ({"tags": "x" * 101}, "the limit is 100"),
        ({"description": "ghp_" + "a1B2" * 9}, "seems to hold a credential"),
    ],
)
def test_what_is_refused_stands_on_the_form(
    client: Client, caching: Context, changes: dict[str, str], sentence: str
) -> None:
    page = client.post(f"{LIST}add/", {**FORM, **changes})
    assert page.status_code == 200
    assert sentence in page.content.decode()
    assert Context.objects.in_project(caching.project).count() == 1


def test_deleting_says_how_many_memories_go(client: Client, ada: Caller, caching: Context) -> None:
    remember(ada, "one", "two")
    assert "with its 2 memories" in client.get(page_of(caching, "delete/")).content.decode()
    client.post(page_of(caching, "delete/"), {"post": "yes"})
    assert not Context.objects.in_project(caching.project).exists()
    assert not Memory.objects.in_project(caching.project).exists()
    assert last_event(caching.project) == ("deleted", "context", "vi")


def test_many_are_deleted_at_once(client: Client, ada: Caller, caching: Context) -> None:
    create_context(caller=ada, name="Other")
    both = list(Context.objects.in_project(ada.project).values_list("pk", flat=True))
    asked = client.post(LIST, {"action": "delete_selected", "_selected_action": both})
    assert "Caching, which is empty." in asked.content.decode()
    client.post(LIST, {"action": "delete_selected", "_selected_action": both, "post": "yes"})
    assert not Context.objects.in_project(ada.project).exists()


# -- Who may ---------------------------------------------------------------------------------------


def test_a_viewer_reads_and_changes_nothing(apollo: Project, caching: Context) -> None:
    viewer = member(apollo, VIEWER, "eve")
    assert "Edit" not in viewer.get(page_of(caching)).content.decode()
    assert viewer.get(page_of(caching, "change/")).headers["Location"] == page_of(caching)
    before = dump_project(apollo)
    for rest in ("change/", "delete/"):
        assert viewer.post(page_of(caching, rest), {**FORM, "post": "yes"}).status_code == 403
    assert viewer.post(f"{LIST}add/", FORM).status_code == 403
    assert dump_project(apollo) == before


def test_another_projects_context_is_not_there(hermes: Project, caching: Context) -> None:
    stranger = member(hermes, ADMIN, "cy")
    assert stranger.get(LIST).context["cl"].result_count == 0
    before = dump_project(caching.project)
    for rest in ("", "change/", "history/", "delete/"):
        stranger.post(page_of(caching, rest), {**FORM, "post": "yes"})
        assert "Redis evictions" not in stranger.get(page_of(caching, rest), follow=True).content.decode()
    assert dump_project(caching.project) == before
