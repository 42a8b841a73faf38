"""Memories in a real browser: written, read, related, and browsed by their graph."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from memory.models import Memory, Relationship
from memory.relationships.services import relate
from messaging.messages.services import send_message
from tests.e2e.test_admin import go, save, sign_in
from tests.hub import LiveHub
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine

NASTY = "</text></svg><script>document.title = 'run'</script><a href=\"javascript:alert(1)\">&"
NARROW = {"width": 390, "height": 844}


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, apollo: Project) -> Page:
    sign_in(page, hub, person("vera", apollo, ADMIN))
    return page


def remember(caller: Caller, title: str, content: str = "x") -> int:
    return add_memory(caller=caller, title=title, content=content, context="caching")["id"]


def graph(page: Page) -> Locator:
    """The graph that is visible at the width of the window."""
    return page.locator("svg.ctx-graph:visible")


def centre(page: Page) -> Locator:
    return graph(page).locator(".ctx-centre")


def test_a_person_writes_a_memory_and_relates_it(signed_in: Page, ada: Caller) -> None:
    other = remember(ada, "Redis eviction")
    page = signed_in
    page.get_by_role("link", name="Memories").first.click()
    page.locator(".addlink").first.click()
    page.get_by_label("Title").fill("Locks around recompute")
    page.get_by_role("textbox", name="Content").fill("A **stampede** happens.\n\nLock first.")
    page.get_by_label("Context").fill("caching")
    page.get_by_label("Type").select_option("snippet")
    save(page)
    expect(page.locator(".ctx-markdown strong")).to_have_text("stampede")
    expect(page.get_by_text("This memory has no relationships yet.")).to_be_visible()
    page.get_by_role("link", name="Raw").click()
    expect(page.locator("pre.ctx-value")).to_contain_text("A **stampede** happens.")

    page.get_by_role("link", name="Add one").click()
    page.get_by_label("Relation").select_option("depends_on")
    page.get_by_label("Target").fill(f"memory:{other}")
    save(page)
    expect(centre(page)).to_contain_text("Locks around")
    expect(graph(page).get_by_role("link", name="Redis eviction")).to_be_visible()
    expect(page.locator(".ctx-related")).to_contain_text("depends on")


@pytest.mark.parametrize("is_narrow", [False, True])
def test_the_graph_is_browsed_by_clicks(is_narrow: bool, signed_in: Page, ada: Caller) -> None:
    first, second, third = (
        remember(ada, title) for title in ("First of all", "Second to it", "Third and last")
    )
    decision = set_decision(caller=ada, key="cache/engine", value="Redis")["id"]
    relate(caller=ada, source=first, target=second, relation="includes", strength=80)
    relate(caller=ada, source=second, target=third, relation="depends_on")
    relate(caller=ada, source=third, target="decision:cache/engine", relation="references")
    message = send_message(caller=ada, text="Evictions came at noon.")["id"]
    relate(caller=ada, source=f"message:{message}", target="decision:cache/engine", relation="references")
    page = signed_in
    if is_narrow:
        page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    go(page, f"/admin/memory/memory/{first}/")
    expect(graph(page)).to_have_count(1)
    expect(centre(page)).to_contain_text("First of all")
    # Memories two steps away are drawn, three steps away not.
    expect(graph(page).locator(".ctx-node")).to_have_count(3)

    graph(page).get_by_role("link", name="Third and last").click()
    expect(page).to_have_url(re.compile(rf"/memory/memory/{third}/#relationships$"))
    expect(centre(page)).to_contain_text("Third and last")
    graph(page).get_by_role("link", name="Second to it").click()
    expect(centre(page)).to_contain_text("Second to it")
    graph(page).get_by_role("link", name="cache/engine").click()
    expect(page).to_have_url(re.compile(rf"/memory/decision/{decision}/#links$"))
    # From the decision on to the message that is about it.
    graph(page).get_by_role("link", name="Evictions came").click()
    expect(page).to_have_url(re.compile(rf"/messaging/message/{message}/#links$"))
    expect(graph(page).get_by_role("link", name="cache/engine")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_similar_memory_is_related_by_a_button(signed_in: Page, ada: Caller) -> None:
    content = "Use allkeys-lru for the sessions of the shop, never noeviction."
    one, other = (
        remember(ada, "Redis eviction", content),
        remember(ada, "Redis evictions", f"{content} Ask ben."),
    )
    page = signed_in
    go(page, f"/admin/memory/memory/{one}/")
    expect(graph(page).locator(".ctx-node.ctx-suggested")).to_have_count(1)
    page.get_by_role("button", name="Relate to Redis evictions").click()
    expect(page.get_by_text(f"It is now related to memory:{other}.")).to_be_visible()
    expect(graph(page).locator(".ctx-suggested")).to_have_count(0)
    assert Relationship.unscoped.get().target == f"memory:{other}"


def test_a_hostile_title_stays_text_in_the_graph(signed_in: Page, ada: Caller) -> None:
    one = remember(ada, "Harmless")
    relate(caller=ada, source=one, target=remember(ada, NASTY))
    relate(caller=ada, source=one, target=remember(ada, "服務效能瓶頸：快取與資料庫連線池的調校筆記" * 5))
    page = signed_in
    go(page, f"/admin/memory/memory/{one}/#relationships")
    expect(graph(page).locator(".ctx-node")).to_have_count(3)
    assert page.locator("svg.ctx-graph script, a[href^=javascript]").count() == 0
    assert "run" not in page.title()
    assert Memory.unscoped.get(pk=one).title in page.title()
    for node in graph(page).locator(".ctx-node").all():
        box, text = node.locator("rect").bounding_box(), node.locator("text").first.bounding_box()
        assert box
        assert text
        assert text["x"] + text["width"] <= box["x"] + box["width"]


def test_a_link_of_the_graph_is_reached_by_the_keyboard(signed_in: Page, ada: Caller) -> None:
    one, other = remember(ada, "One"), remember(ada, "Other")
    relate(caller=ada, source=one, target=other)
    page = signed_in
    go(page, f"/admin/memory/memory/{one}/")
    graph(page).get_by_role("link", name="Other").focus()
    page.keyboard.press("Enter")
    expect(centre(page)).to_contain_text("Other")
