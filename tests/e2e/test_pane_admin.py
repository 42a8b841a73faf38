"""The reading pane beside a list, and the page of an object: where things stand, what scripts do there."""

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.memories.services import add_memory
from memory.relationships.services import relate
from memory.scratchpads.services import create_scratchpad
from memory.workflows.services import create_workflow
from tests.e2e.test_admin import go, sign_in
from tests.hub import LiveHub
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine

PARTS = "\n\n".join(f"# Part {n}\n\n" + "Long. " * 400 for n in range(4))
BOX = """each => { const {left, right, top, bottom} = each.getBoundingClientRect();
    return {left, right, top, bottom} }"""


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, apollo: Project) -> Page:
    sign_in(page, hub, person("vera", apollo, ADMIN))
    page.set_viewport_size({"width": 1440, "height": 900})
    return page


@pytest.fixture
def pads(ada: Caller) -> None:
    workflow = create_workflow(caller=ada, name="Release")["workflow_id"]
    for name in ("first", "second"):
        create_scratchpad(caller=ada, workflow_id=workflow, name=name, content=PARTS)


def open_row(page: Page, title: str) -> None:
    page.locator("#result_list").get_by_role("link", name=title, exact=True).click()
    expect(page.locator("#ctx-pane").get_by_role("heading", name=title, exact=True)).to_be_visible()


@pytest.mark.usefixtures("pads")
def test_the_pane_ends_above_the_foot_of_the_page(signed_in: Page) -> None:
    page = signed_in
    go(page, "/admin/memory/scratchpad/")
    open_row(page, "first")
    pane = page.locator("#ctx-pane")
    for _ in range(2):
        foot = page.locator("footer > *").evaluate(BOX)
        assert pane.evaluate(BOX)["bottom"] < foot["top"]
        page.set_viewport_size({"width": 1400, "height": 600})
    pane.evaluate("each => each.scrollTo(0, each.scrollHeight)")
    expect(pane.get_by_role("link", name="Delete this scratchpad")).to_be_in_viewport()
    assert pane.get_by_role("link", name="Delete this").evaluate(BOX)["bottom"] < foot["top"]


@pytest.mark.usefixtures("pads")
def test_the_outline_marks_what_is_read_in_the_pane(signed_in: Page) -> None:
    page = signed_in
    go(page, "/admin/memory/scratchpad/")
    for title in ("first", "second"):
        open_row(page, title)
        outline = page.locator("#ctx-pane").get_by_role("navigation", name="Outline")
        expect(outline.locator("[aria-current]")).to_have_text("Part 0")
        outline.get_by_role("link", name="Part 2").click()
        expect(outline.locator("[aria-current]")).to_have_text("Part 2")
    assert page.locator("script[src*=outline]").count() == 1


@pytest.mark.parametrize(("width", "is_beside"), [(1440, True), (1280, True), (390, False)])
def test_facts_stand_under_the_title_and_the_graph_beside_the_text(
    width: int, is_beside: bool, signed_in: Page, ada: Caller
) -> None:
    page = signed_in
    one, other = (
        add_memory(caller=ada, title=title, content="Text. " * 200, context="backend", tags=["api"])["id"]
        for title in ("One", "Other")
    )
    relate(caller=ada, source=f"memory:{one}", target=f"memory:{other}")
    page.set_viewport_size({"width": width, "height": 900})
    go(page, f"/admin/memory/memory/{one}/")
    title, facts, text, graph = (
        page.locator(each).evaluate(BOX) for each in (".ctx-head", ".ctx-line", ".ctx-main", "#relationships")
    )
    assert title["bottom"] <= facts["top"] < facts["bottom"] <= text["top"]
    expect(page.locator(".ctx-line")).to_contain_text("api")
    assert (graph["left"] >= text["right"]) == is_beside
    assert (graph["top"] >= text["bottom"]) != is_beside
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
