"""Revisions of a memory in the admin: the page, the differences, the button that restores one."""

import re
from typing import Any

import pytest
from django.test import Client

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.memories.services import add_memory, update_memory
from memory.models import Memory
from tests.people import VIEWER, member

pytestmark = pytest.mark.usefixtures("index_is_kept")

CONTENT = "one two three"


@pytest.fixture
def client(apollo: Project) -> Client:
    return member(apollo)


@pytest.fixture
def memory(ada: Caller) -> Memory:
    made = add_memory(caller=ada, title="Cache", content=CONTENT)
    return Memory.objects.in_project(ada.project).get(pk=made["id"])


def page_of(memory: Memory, rest: str = "") -> str:
    return f"/admin/memory/memory/{memory.pk}/{rest}"


def text_of(client: Client, memory: Memory, rest: str = "") -> str:
    page = client.get(page_of(memory, rest))
    assert page.status_code == 200
    return page.content.decode()


def difference(html: str) -> str:
    [found] = re.findall(r'(?s)<div class="ctx-value ctx-difference"[^>]*>(.*?)</div>', html)
    return str(found)


def change(caller: Caller, memory: Memory, **fields: Any) -> None:
    update_memory(caller=caller, memory_id=memory.pk, **fields)


def current(memory: Memory) -> tuple[str, str, int]:
    memory.refresh_from_db()
    return memory.title, memory.content, memory.revision


def test_the_page_of_a_memory_links_to_its_revisions(client: Client, memory: Memory) -> None:
    assert f'href="{page_of(memory, "revisions/")}"' in text_of(client, memory)


def test_each_revision_shows_its_agent_and_the_change_in_tokens(
    client: Client, ben: Caller, memory: Memory
) -> None:
    change(ben, memory, content=f"{CONTENT} four five")
    lines = client.get(page_of(memory, "revisions/")).context["lines"]
    assert [(line.state.revision, line.change, line.state.agent) for line in lines] == [
        (2, "changed", "ben"),
        (1, "added", "ada"),
    ]
    assert lines[0].delta > 0
    assert lines[1].delta == memory.tokens
    assert [line.is_present for line in lines] == [True, False]


def test_a_revision_is_compared_with_the_previous_and_the_present_one(
    client: Client, ben: Caller, memory: Memory
) -> None:
    change(ben, memory, content="one 2 three")
    change(ben, memory, title="Caches")
    assert difference(text_of(client, memory, "revisions/?state=2")) == (
        "Cache\n\none <del>two</del><ins>2</ins> three"
    )
    newest = difference(text_of(client, memory, "revisions/"))
    assert newest == "<del>Cache\n</del><ins>Caches\n</ins>\none 2 three"
    since = difference(text_of(client, memory, "revisions/?state=1&against=present"))
    assert "<ins>Caches\n</ins>" in since
    assert "<ins>2</ins>" in since


def test_html_in_a_revision_is_escaped(client: Client, ben: Caller, memory: Memory) -> None:
    change(ben, memory, title="<script>x", content="<script>y")
    change(ben, memory, content="none")
    for query in ("", "?state=2", "?state=1&against=present", "?state=2&against=whole"):
        assert "<script>x" not in text_of(client, memory, f"revisions/{query}")


def test_a_revision_is_restored_by_a_button(client: Client, ben: Caller, memory: Memory) -> None:
    change(ben, memory, title="Lost", content="All is lost.")
    client.get(page_of(memory, "restore/"))
    assert current(memory)[0] == "Lost"
    done = client.post(page_of(memory, "restore/"), {"revision": 1, "seen": 2}, follow=True)
    assert "Revision 1 was restored." in done.content.decode()
    assert current(memory) == ("Cache", CONTENT, 3)
    event = Event.objects.in_project(memory.project).select_related("agent").latest("pk")
    assert (event.verb, str(event.agent)) == ("restored", "vi")


def test_a_restore_does_not_overwrite_a_concurrent_change(
    client: Client, ben: Caller, memory: Memory
) -> None:
    change(ben, memory, content="Two.")
    change(ben, memory, content="Three.")
    done = client.post(page_of(memory, "restore/"), {"revision": 1, "seen": 2}, follow=True)
    assert "Nothing was restored" in done.content.decode()
    assert done.redirect_chain[-1][0] == page_of(memory, "revisions/?state=1&against=present")
    assert current(memory) == ("Cache", "Three.", 3)


def test_a_viewer_reads_revisions_and_restores_none(apollo: Project, ben: Caller, memory: Memory) -> None:
    change(ben, memory, content="Two.")
    viewer = member(apollo, VIEWER, username="eve")
    assert "Restore revision 1" not in text_of(viewer, memory, "revisions/?state=1")
    done = viewer.post(page_of(memory, "restore/"), {"revision": 1, "seen": 2}, follow=True)
    assert "you cannot change it" in done.content.decode()
    assert current(memory)[1] == "Two."


def test_the_search_page_links_a_former_text_to_its_memory(
    client: Client, ben: Caller, memory: Memory
) -> None:
    change(ben, memory, content="Other.")
    [card] = client.get("/admin/search/", {"q": "three"}).context["cards"]
    assert (card.kind, card.mark, card.url) == ("memory", "was revision 1, now revision 2", page_of(memory))
