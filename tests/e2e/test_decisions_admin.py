"""Decisions in a real browser: why something is so, what stood before, and who decided it."""

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.services import deprecate_decision, set_decision
from tests.e2e.test_admin import sign_in
from tests.hub import LiveHub
from tests.messaging.mail import known
from tests.people import VIEWER, person

pytestmark = pytest.mark.one_engine

WHY = "Sessions must survive a restart of the shop."
EARLIER = "Memcached on each node"


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, apollo: Project, ada: Caller, ben: Caller) -> Page:
    """The store of sessions was decided by ada, changed by ben, and once had another key."""
    known(ada, ben)
    set_decision(caller=ada, key="session/storage", value="Cookies signed by the shop", rationale="Simple.")
    set_decision(caller=ada, key="cache/engine", value=EARLIER, rationale="It was there.")
    set_decision(caller=ben, key="cache/engine", value="Redis, three nodes", rationale=WHY)
    deprecate_decision(
        caller=ben, key="session/storage", reason="Too long for a header.", superseded_by="cache/engine"
    )
    sign_in(page, hub, person("vera", apollo, VIEWER))
    return page


@pytest.mark.parametrize("words", ["cache engine", "redis nodes", "memcached"])
@pytest.mark.parametrize("width", [1280, 390])
def test_why_what_before_and_who_are_two_clicks_away(width: int, words: str, signed_in: Page) -> None:
    """Into the search, and on the hit: found by the key, the value and a value it had before."""
    page = signed_in
    page.set_viewport_size({"width": width, "height": 844})
    page.get_by_role("searchbox", name="Search everything").or_(
        page.get_by_role("link", name="Search everything")
    ).first.click()
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    page.locator(".ctx-hit").get_by_role("link", name="cache/engine").first.click()
    why = page.locator("section", has=page.get_by_role("heading", name="Why"))
    expect(why).to_contain_text(WHY)
    history = page.locator(".ctx-steps")
    expect(history.locator("del").first).to_contain_text("Memcached")
    expect(history.get_by_role("link", name="ben").first).to_be_visible()
    expect(history.get_by_role("link", name="ada").first).to_be_visible()
    expect(page.locator(".ctx-chain")).to_contain_text("session/storage Cookies signed by the shop")
    expect(page.locator("dt:text-is('Agent') + dd").get_by_role("link", name="ben")).to_be_visible()


def test_a_value_of_a_decision_no_longer_in_force_leads_to_what_is(signed_in: Page) -> None:
    page = signed_in
    page.get_by_role("searchbox", name="Search everything").click()
    page.keyboard.type("signed cookies")
    page.keyboard.press("Enter")
    page.locator(".ctx-hit").get_by_role("link", name="session/storage").first.click()
    ended = page.locator("section", has=page.get_by_role("heading", name="No longer in force"))
    expect(ended).to_contain_text("Too long for a header.")
    expect(ended.get_by_role("link", name="cache/engine")).to_be_visible()
    expect(page.locator(".ctx-chain")).to_contain_text("cache/engine Redis, three nodes")
