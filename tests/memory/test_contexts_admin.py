"""Contexts in the admin: their memories in lists, on pages, and when one is deleted."""

import pytest
from django.test import Client

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.contexts.services import create_context
from memory.memories.services import add_memory
from memory.models import Context, Memory
from tests.people import member

pytestmark = pytest.mark.usefixtures("index_is_kept")

LIST = "/admin/memory/context/"


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo, username="vi")


@pytest.fixture
def context(ada: Caller) -> Context:
    answer = create_context(caller=ada, name="Caching", description="What is known of Redis evictions.")
    return Context.objects.in_project(ada.project).get(pk=answer["id"])


def page_of(row: Context, rest: str = "") -> str:
    return f"{LIST}{row.pk}/{rest}"


def remember(caller: Caller, *titles: str, context: str = "Caching") -> None:
    for title in titles:
        add_memory(caller=caller, title=title, content="x", context=context)


# -- Lists -----------------------------------------------------------------------------------------


def test_a_row_counts_its_memories_and_links_to_them(client: Client, ada: Caller, context: Context) -> None:
    remember(ada, "one", "two")
    remember(ada, "three", context="Other")
    text = client.get(f"{LIST}?q=eviction").content.decode()
    assert 'href="/admin/memory/memory/?project=apollo&amp;context=Caching">2</a>' in text


# -- Pages -----------------------------------------------------------------------------------------


def test_the_page_shows_the_newest_memories(client: Client, ada: Caller, context: Context) -> None:
    remember(ada, *(f"Memory {n}" for n in range(15)))
    page = client.get(page_of(context))
    assert [memory.title for memory in page.context["newest"]] == [f"Memory {n}" for n in range(14, 2, -1)]
    assert ">All 15</a>" in page.content.decode()
    assert client.get(page.context["list_of_memories"]).context["cl"].result_count == 15


# -- Changing --------------------------------------------------------------------------------------


def test_deleting_shows_how_many_memories_are_deleted_too(
    client: Client, ada: Caller, context: Context
) -> None:
    remember(ada, "one", "two")
    assert "with its 2 memories" in client.get(page_of(context, "delete/")).content.decode()
    client.post(page_of(context, "delete/"), {"post": "yes"})
    assert not Memory.objects.in_project(context.project).exists()
