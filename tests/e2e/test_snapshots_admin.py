"""Snapshots in a real browser: added, walked along their causes, pruned."""

import re
from itertools import combinations

import pytest
from playwright.sync_api import Locator, Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.models import Snapshot
from tests.e2e.test_admin import go, save, sign_in
from tests.hub import LiveHub
from tests.memory.snapshots import depend, link, write
from tests.memory.snapshots import save as save_snapshot
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine

LIST = "/admin/memory/snapshot/"
LONG = "Averylongidentifierwithoutanyblanks_that_cannot_be_wrapped_at_a_word " * 3


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, apollo: Project) -> Page:
    sign_in(page, hub, person("vera", apollo, ADMIN))
    return page


def graph(page: Page) -> Locator:
    """The graph that is visible at the width of the window."""
    return page.locator("svg.ctx-graph:visible")


def centre(page: Page) -> Locator:
    return graph(page).locator(".ctx-centre")


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def test_a_person_adds_what_follows_from_a_snapshot(signed_in: Page, ada: Caller) -> None:
    page, cause = signed_in, save_snapshot(ada, summary="Sessions in Redis")
    go(page, f"{LIST}{cause}/")
    expect(page.get_by_text("It has no cause, and nothing rests on it.")).to_be_visible()
    page.get_by_role("link", name="Add what follows").click()
    page.get_by_role("textbox", name="Content").fill("Sessions move to **PostgreSQL**.")
    page.get_by_label("Action").select_option("decision")
    save(page)
    expect(page.locator(".ctx-markdown strong")).to_have_text("PostgreSQL")
    expect(graph(page).get_by_role("link", name="Sessions in Redis")).to_be_visible()
    assert Snapshot.unscoped.latest("pk").caused_by_id == cause


@pytest.mark.parametrize("width", [1280, 390])
def test_causes_and_effects_are_walked_by_clicks(width: int, signed_in: Page, ada: Caller) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 844})
    first = save_snapshot(ada, summary="First of all")
    second = save_snapshot(ada, summary="Second to it", caused_by=first)
    third = save_snapshot(ada, summary="Third and last", caused_by=second)
    go(page, f"{LIST}{first}/")
    expect(graph(page)).to_have_count(1)
    expect(graph(page).locator(".ctx-node")).to_have_count(3)
    graph(page).get_by_role("link", name="Third and last").click()
    expect(page).to_have_url(re.compile(rf"/memory/snapshot/{third}/#causes$"))
    expect(centre(page)).to_contain_text("Third and last")
    graph(page).get_by_role("link", name="Second to it").focus()
    page.keyboard.press("Enter")
    expect(centre(page)).to_contain_text("Second to it")
    assert fits(page)


@pytest.mark.parametrize("width", [1280, 390])
def test_no_labels_of_a_large_graph_overlap(width: int, signed_in: Page, ada: Caller) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 844})
    ids = write(ada, 60, summary=LONG)
    link(ids[1:], [ids[n // 3] for n in range(59)])
    depend(ada, [(ids[n], ids[n - 5]) for n in range(6, 60, 4)])
    go(page, f"{LIST}{ids[5]}/")
    texts = [text.bounding_box() for text in graph(page).locator("text").all()]
    boxes = [node.bounding_box() for node in graph(page).locator(".ctx-node rect").all()]
    assert len(boxes) > 10
    for some in (texts, boxes):
        for a, b in combinations([box for box in some if box], 2):
            apart = a["x"] + a["width"] <= b["x"] + 1 or b["x"] + b["width"] <= a["x"] + 1
            assert apart or a["y"] + a["height"] <= b["y"] + 1 or b["y"] + b["height"] <= a["y"] + 1
    assert fits(page)


def test_the_overview_leads_to_the_list_and_to_pruning(signed_in: Page, ada: Caller) -> None:
    page = signed_in
    save_snapshot(ada)
    go(page, LIST)
    page.get_by_label("Pages").get_by_role("link", name="Overview").click()
    page.get_by_role("link", name="active").click()
    expect(page.locator("#result_list").get_by_role("link", name="We keep sessions")).to_be_visible()
    page.get_by_label("Pages").get_by_role("link", name="Prune").click()
    expect(page.get_by_text("There is nothing to prune in apollo.")).to_be_visible()
