"""Briefings in a real browser: a brief, a check and what was given, with the keyboard and on a phone."""

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.constraints.services import add_constraint
from sessions.given.models import Briefing
from tests.e2e.test_admin import go, sign_in
from tests.e2e.test_snapshots_admin import LONG, fits
from tests.hub import LiveHub
from tests.people import VIEWER, person
from tests.sessions.given import decide, read
from tracking.leases.services import acquire_lease

pytestmark = pytest.mark.one_engine

LIST = "/admin/agent_sessions/briefing/"


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, apollo: Project) -> Page:
    sign_in(page, hub, person("vera", apollo, VIEWER))
    return page


@pytest.mark.parametrize("width", [1280, 390])
def test_a_person_asks_for_the_brief_of_an_agent(width: int, signed_in: Page, ada: Caller) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 844})
    decide(ada, LONG)
    go(page, LIST)
    page.get_by_role("link", name="Brief now").click()
    page.get_by_label("Agent").fill("ben")
    page.get_by_label("Task").fill("the auth of the api")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What ben gets")).to_be_visible()
    links = page.locator("#decisions").get_by_role("link")
    expect(links).to_have_text(["decision:api/auth/method", "ada"])
    assert fits(page)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_person_asks_what_would_stop_an_agent(width: int, signed_in: Page, ada: Caller) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 844})
    acquire_lease(caller=ada, paths=["src/**"], reason=LONG)
    add_constraint(caller=ada, category="security", text=LONG)
    go(page, f"{LIST}check/")
    page.get_by_label("Paths").fill("src/a.py")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("status")).to_contain_text("Not clear")
    expect(page.get_by_role("status")).to_contain_text("ada has an exclusive lease until")
    assert fits(page)


@pytest.mark.parametrize("width", [1280, 390])
def test_what_was_given_opens_with_the_keyboard(
    width: int, signed_in: Page, ada: Caller, ben: Caller
) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 844})
    decide(ada, LONG)
    read(ben)
    decide(ada, "Short")
    go(page, f"{LIST}{Briefing.unscoped.get().pk}/change/")
    expect(page.get_by_text("now 1.0.1")).to_be_visible()
    page.locator("summary", has_text="api/auth/method").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".ctx-part .ctx-value")).to_contain_text("Averylongidentifier")
    assert fits(page)
    page.get_by_role("link", name="All it knew then").click()
    expect(page.get_by_role("heading", name="What ben had been given")).to_be_visible()
    assert fits(page)
