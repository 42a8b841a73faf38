"""Contexts in the admin: lists, pages with the newest memories, adding, changing and deleting."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.contexts.services import create_context, update_context
from memory.memories.services import add_memory
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
def context(ada: Caller) -> Context:
    answer = create_context(
        caller=ada,
        name="Caching",
        description="What is known of Redis evictions.",
        tags=["caching"],
        stack="redis",
        metadata={"owner": "platform"},
    )
    return Context.objects.in_project(ada.project).get(pk=answer["id"])


def page_of(row: Context, rest: str = "") -> str:
    return f"{LIST}{row.pk}/{rest}"


def remember(caller: Caller, *titles: str, context: str = "Caching") -> None:
    for title in titles:
        add_memory(caller=caller, title=title, content="x", context=context)


def last_event(project: Project) -> tuple[str, str, str]:
    event = Event.objects.in_project(project).select_related("agent").latest("pk")
    return event.verb, event.noun, str(event.agent)


# -- Lists -----------------------------------------------------------------------------------------


@pytest.mark.every_engine
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
def test_a_list_is_searched_and_filtered(query: str, found: bool, client: Client, context: Context) -> None:
    page = client.get(LIST + query.format(id=context.pk))
    assert page.context["cl"].result_count == int(found)


def test_a_row_counts_its_memories_and_links_to_them(client: Client, ada: Caller, context: Context) -> None:
    remember(ada, "one", "two")
    remember(ada, "three", context="Other")
    text = client.get(f"{LIST}?q=eviction").content.decode()
    for part in (page_of(context), "redis", "caching", "ada", "just now"):
        assert part in text
    assert 'href="/admin/memory/memory/?project=apollo&amp;context=Caching">2</a>' in text


@pytest.mark.parametrize("page", ["", "{id}/"])
def test_the_number_of_queries_does_not_grow_with_rows(
    page: str, client: Client, ada: Caller, context: Context
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(LIST + page.format(id=context.pk)).status_code == 200
        return len(queries)

    count()  # Fills Django's cache of content types.
    for n in range(3):
        create_context(caller=ada, name=f"c{n}", tags=[f"t{n}"])
        remember(ada, f"m{n}")
    few = count()
    for n in range(3, 20):
        create_context(caller=ada.speaking_as(f"agent-{n}"), name=f"c{n}", tags=[f"t{n}"])
        remember(ada.speaking_as(f"agent-{n}"), f"m{n}")
    assert count() == few


# -- Pages -----------------------------------------------------------------------------------------


def test_the_page_shows_the_fields_and_the_newest_memories(
    client: Client, ada: Caller, context: Context
) -> None:
    remember(ada, *(f"Memory {n}" for n in range(15)))
    page = client.get(page_of(context))
    text = page.content.decode()
    assert [memory.title for memory in page.context["newest"]] == [f"Memory {n}" for n in range(14, 2, -1)]
    for part in ("Redis evictions", "platform", f"context:{context.pk}", ">All 15</a>"):
        assert part in text
    assert client.get(page.context["list_of_memories"]).context["cl"].result_count == 15


def test_the_page_of_an_empty_context_shows_no_memories(client: Client, context: Context) -> None:
    assert "None yet." in client.get(page_of(context)).content.decode()


def test_the_history_lists_the_events_of_the_context(client: Client, ada: Caller, context: Context) -> None:
    update_context(caller=ada, context="caching", stack="valkey")
    history = client.get(page_of(context, "history/"), follow=True)
    assert [event.verb for event in history.context["cl"].result_list] == ["updated", "created"]


def test_an_event_redirects_to_the_page(client: Client, context: Context) -> None:
    event = Event.objects.in_project(context.project).get(noun="context")
    opened = client.get(reverse("admin:core_event_open", args=[event.pk]))
    assert opened.headers["Location"] == page_of(context)


@pytest.mark.parametrize("rest", ["", "history/"])
def test_pages_of_an_unknown_context_redirect_to_the_list(
    rest: str, client: Client, context: Context
) -> None:
    page = client.get(f"{LIST}{context.pk + 1}/{rest}", follow=True)
    assert page.redirect_chain[-1][0] == LIST
    assert "Perhaps it was deleted?" in page.content.decode()


def test_html_in_a_context_is_escaped(client: Client, ada: Caller) -> None:
    html = "<script>alert(1)</script>"
    created = create_context(caller=ada, name=html, description=html, stack=html, tags=[html])
    remember(ada, html, context=html)
    for page in (
        LIST,
        f"{LIST}{created['id']}/",
        f"{LIST}{created['id']}/change/",
        f"{LIST}{created['id']}/delete/",
    ):
        assert html not in client.get(page).content.decode()


# -- Changing --------------------------------------------------------------------------------------


def test_a_person_adds_a_context(client: Client, apollo: Project) -> None:
    page = client.post(f"{LIST}add/", FORM, follow=True)
    added = Context.objects.in_project(apollo).get()
    assert page.redirect_chain[-1][0] == page_of(added)
    assert (added.name, added.description) == ("Sessions", "Who is signed in.\nAnd for how long.")
    assert (added.stack, added.metadata) == ("django", {"owner": "platform"})
    assert sorted(tag.name for tag in added.tags.all()) == ["brand-new", "people"]
    assert last_event(apollo) == ("created", "context", "vi")


def test_only_the_edited_fields_change(client: Client, context: Context) -> None:
    shown = {"name": "Caching", "description": context.description, "stack": "redis", "tags": "caching"}
    client.post(page_of(context, "change/"), shown | {"stack": "", "metadata": '{"a": 1}'})
    context.refresh_from_db()
    assert (context.name, context.stack, context.metadata) == ("Caching", "", {"a": 1})
    assert [tag.name for tag in context.tags.all()] == ["caching"]
    assert last_event(context.project) == ("updated", "context", "vi")


@pytest.mark.parametrize(
    ("changes", "message"),
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
def test_the_form_shows_validation_errors(
    client: Client, context: Context, changes: dict[str, str], message: str
) -> None:
    page = client.post(f"{LIST}add/", {**FORM, **changes})
    assert page.status_code == 200
    assert message in page.content.decode()
    assert Context.objects.in_project(context.project).count() == 1


@pytest.mark.every_engine
def test_deleting_shows_how_many_memories_are_deleted_too(
    client: Client, ada: Caller, context: Context
) -> None:
    remember(ada, "one", "two")
    assert "with its 2 memories" in client.get(page_of(context, "delete/")).content.decode()
    client.post(page_of(context, "delete/"), {"post": "yes"})
    assert not Context.objects.in_project(context.project).exists()
    assert not Memory.objects.in_project(context.project).exists()
    assert last_event(context.project) == ("deleted", "context", "vi")


@pytest.mark.every_engine
def test_a_list_action_deletes_several(client: Client, ada: Caller, context: Context) -> None:
    create_context(caller=ada, name="Other")
    both = list(Context.objects.in_project(ada.project).values_list("pk", flat=True))
    confirmation = client.post(LIST, {"action": "delete_selected", "_selected_action": both})
    assert "Caching, which is empty." in confirmation.content.decode()
    client.post(LIST, {"action": "delete_selected", "_selected_action": both, "post": "yes"})
    assert not Context.objects.in_project(ada.project).exists()


# -- Permissions -----------------------------------------------------------------------------------


def test_a_viewer_reads_and_changes_nothing(apollo: Project, context: Context) -> None:
    viewer = member(apollo, VIEWER, "eve")
    assert "Edit" not in viewer.get(page_of(context)).content.decode()
    assert viewer.get(page_of(context, "change/")).headers["Location"] == page_of(context)
    before = dump_project(apollo)
    for rest in ("change/", "delete/"):
        assert viewer.post(page_of(context, rest), {**FORM, "post": "yes"}).status_code == 403
    assert viewer.post(f"{LIST}add/", FORM).status_code == 403
    assert dump_project(apollo) == before


def test_a_context_of_another_project_is_neither_shown_nor_changed(hermes: Project, context: Context) -> None:
    stranger = member(hermes, ADMIN, "cleo")
    assert stranger.get(LIST).context["cl"].result_count == 0
    before = dump_project(context.project)
    for rest in ("", "change/", "history/", "delete/"):
        stranger.post(page_of(context, rest), {**FORM, "post": "yes"})
        assert "Redis evictions" not in stranger.get(page_of(context, rest), follow=True).content.decode()
    assert dump_project(context.project) == before
