"""The timeline in a real browser: one click for the last night, and a closer look by dragging."""

import re

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.toolbox.dispatch import call
from tests.e2e.test_admin import go, sign_in
from tests.e2e.test_snapshots_admin import LONG, fits
from tests.hub import LiveHub
from tests.people import VIEWER, person

pytestmark = pytest.mark.one_engine

HOSTILE = "<img src=x onerror=alert(1)>" + "W" * 70
URL = "/admin/core/event/timeline/"


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, apollo: Project) -> Page:
    sign_in(page, hub, person("vera", apollo, VIEWER))
    return page


def work(*callers: Caller) -> None:
    for caller in callers:
        call(caller, "decision", {"action": "set", "key": f"{caller.agent}/key", "value": LONG})
        call(caller, "file", {"action": "lease", "paths": [f"{caller.agent}/**"], "reason": LONG})
        call(caller, "message", {"action": "send", "text": LONG, "priority": "high"})


@pytest.mark.parametrize("width", [1280, 390])
def test_what_happened_is_one_click_away(width: int, signed_in: Page, ada: Caller, ben: Caller) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 844})
    work(ada, ben)
    go(page, "/admin/core/event/")
    page.get_by_label("Pages").get_by_role("link", name="Timeline").click()
    page.get_by_role("link", name="Since yesterday 18:00").click()
    expect(page.locator(".ctx-lane-name")).to_have_count(2)
    expect(page.get_by_role("region", name="ada")).to_contain_text("ada/key")
    assert fits(page)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_last_night_by_agent_is_one_key_away(width: int, signed_in: Page, ada: Caller) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 844})
    hostile = ada.speaking_as(HOSTILE)
    work(ada, hostile)
    go(page, "/admin/core/event/agents/")
    page.get_by_role("link", name="Since yesterday 18:00").focus()
    page.keyboard.press("Enter")
    row = page.get_by_role("row").filter(has_text=HOSTILE)
    expect(row).to_contain_text("decision 1")
    assert fits(page)
    page.get_by_role("link", name="As a timeline").click()
    expect(page.get_by_role("region", name=HOSTILE)).to_be_visible()
    assert fits(page)


def test_dragging_over_the_lanes_shows_a_shorter_period(signed_in: Page, ada: Caller) -> None:
    page = signed_in
    work(ada)
    go(page, f"{URL}?project=apollo&last=24h")
    lanes = page.locator(".ctx-timeline")
    box = lanes.bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.4, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, y, steps=3)
    expect(page.locator(".ctx-chosen")).to_be_visible()
    page.mouse.up()
    expect(page).to_have_url(re.compile("from=.*&to="))
    fields = [page.locator(f".ctx-range [name={name}]").input_value() for name in ("from", "to")]
    hours = page.evaluate("([from, to]) => (Date.parse(to) - Date.parse(from)) / 3600000", fields)
    assert 2.0 < hours < 3.5  # A tenth of the drawing, whose lanes show 24 hours.


def test_the_period_is_typed_with_the_keyboard(signed_in: Page, ada: Caller) -> None:
    page = signed_in
    work(ada)
    go(page, f"{URL}?project=apollo")
    page.get_by_label("From").fill("2026-01-01T08:00")
    page.get_by_label("to", exact=True).fill("2026-01-01T09:00")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing happened in this period.")).to_be_visible()


@pytest.fixture
def message(signed_in: Page, ada: Caller, ben: Caller) -> Page:
    """The timeline with a message of Ada to Ben."""
    work(ben)
    call(ada, "message", {"action": "send", "text": "May I drop legacy_cart?", "to": ["ben"]})
    go(signed_in, f"{URL}?project=apollo&last=24h")
    return signed_in


@pytest.mark.parametrize("way", ["pointer", "keyboard"])
def test_a_message_shows_its_ends_and_its_words(way: str, message: Page) -> None:
    page = message
    arrow = page.get_by_role("link", name="ada to ben")
    expect(page.locator(".ctx-tip")).to_be_hidden()
    if way == "keyboard":
        arrow.focus()
    else:
        arrow.locator(".ctx-near").hover(force=True)
    expect(page.locator(".ctx-tip")).to_have_text(re.compile(r"^ada to ben, \w{3} \d\d:\d\d: May I drop"))
    expect(arrow.locator(".ctx-end").first).to_have_css("opacity", "1")
    expect(page.locator(".ctx-lane-name.ctx-on")).to_have_count(2)
    page.keyboard.press("Escape")
    expect(page.locator(".ctx-tip")).to_be_hidden()
    if way == "keyboard":
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("/admin/messaging/message/"))


def test_the_drawing_is_passed_with_one_key(message: Page) -> None:
    page = message
    page.get_by_role("link", name="Skip the drawing").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Counted by agent")).to_be_focused()


def test_a_phone_shows_the_newest_before_the_drawing(message: Page) -> None:
    page = message
    newest = page.get_by_role("region", name="Newest first")
    expect(newest).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(newest.get_by_role("listitem").first).to_contain_text("ada")
    first, drawing = newest.bounding_box(), page.get_by_role("region", name="The lanes").bounding_box()
    assert first
    assert drawing
    assert first["y"] + first["height"] <= drawing["y"]
    assert fits(page)
