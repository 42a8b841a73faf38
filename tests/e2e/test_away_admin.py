"""In the morning: agents worked at night, and a person reads on the first page what each did."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project, Visit
from ctxhub.toolbox.dispatch import call
from messaging.messages.services import send_message
from tests.e2e.axe import find_problems
from tests.e2e.test_admin import go, sign_in
from tests.e2e.test_snapshots_admin import fits
from tests.hub import LiveHub
from tests.needs import earlier
from tests.people import VIEWER, person

pytestmark = pytest.mark.one_engine

HOSTILE = ("W" * 100, "<img src=x onerror=alert(1)>\u05d0\u0644", "🛒" * 40)


@pytest.fixture
def morning(page: Page, hub: LiveHub, apollo: Project, ada: Caller, ben: Caller) -> Page:
    """Grace looked 14 hours ago. What happened before is old; Ada and Ben worked at night."""
    grace = person("grace", apollo, VIEWER)
    Visit.objects.create(user=grace, last_at=clock.now() - timedelta(hours=14))
    with earlier(hours=20):
        call(ada, "decision", {"action": "set", "key": "web/bundle", "value": 180})
    with earlier(hours=6):
        call(ada, "decision", {"action": "set", "key": "web/bundle", "value": 160})
        for name in ("app.css", "cart.html"):
            call(ada, "file", {"action": "record", "path": f"web/{name}", "change": "modified"})
        send_message(caller=ben, text="May I drop legacy_cart?", to=["grace"], choices=["Yes", "No"])
    sign_in(page, hub, grace)
    return page


@pytest.mark.parametrize("width", [1280, 390])
def test_the_night_is_read_without_a_click_and_looked_at_with_one(width: int, morning: Page) -> None:
    page = morning
    page.set_viewport_size({"width": width, "height": 844})
    lanes = page.locator("#away .ctx-away-lane")
    expect(page.locator("#away")).to_contain_text("Since your last visit, 14 hours ago.")
    expect(lanes).to_have_count(2)
    expect(lanes.nth(0)).to_contain_text("1 message, waits for you")
    expect(lanes.nth(1)).to_contain_text("1 decision (web/bundle 180 > 160), 2 files in web/")
    assert fits(page)
    lanes.nth(1).locator("svg.ctx-away-events").click(force=True)  # The link is above it.
    page.wait_for_url(re.compile(r"/timeline/\?project=apollo&from=.*#agent-\d+"))
    told = page.get_by_role("region", name="ada")
    expect(told).to_contain_text("web/bundle")
    expect(told).to_contain_text("cart.html")


def test_it_is_read_by_keyboard_and_renews_itself(morning: Page, ben: Caller) -> None:
    page = morning
    page.get_by_role("link", name="ben 1 message, waits for you").focus()
    call(ben, "decision", {"action": "set", "key": "cart/legacy", "value": "dropped"})
    link = page.get_by_role("link", name="1 decision (cart/legacy = dropped), 1 message, waits for you")
    expect(link).to_be_focused()
    expect(page.locator("#away")).to_contain_text("Since your last visit, 14 hours ago.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="ben")).to_contain_text("May I drop legacy_cart?")


def test_reloading_keeps_the_story_and_a_click_tells_of_another_time(morning: Page) -> None:
    page = morning
    go(page, "/admin/memory/decision/")
    go(page, "/admin/")
    expect(page.locator("#away .ctx-away-lane")).to_have_count(2)
    page.locator("#away").get_by_role("link", name="24 hours").click()
    expect(page.locator("#away")).to_contain_text("1 decision (web/bundle = 160)")  # New in these hours.


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_names_and_texts_break_no_lane(width: int, morning: Page, ada: Caller) -> None:
    page = morning
    page.set_viewport_size({"width": width, "height": 844})
    for number, name in enumerate(HOSTILE):
        agent = ada.speaking_as(name[:100])
        call(agent, "decision", {"action": "set", "key": name * 2, "value": name[:20]})
        for ending in "ab":
            path = f"{name[:90]}/{number}{ending}"
            call(agent.with_exact_paths(), "file", {"action": "record", "path": path, "change": "modified"})
    go(page, "/admin/")
    expect(page.locator("#away .ctx-away-lane")).to_have_count(5)
    assert fits(page)
    assert find_problems(page) == {}
