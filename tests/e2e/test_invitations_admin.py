"""An administrator invites a viewer and changes how long messages are kept, by the keyboard."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from ctxhub.core.accounts.config import config_of
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.services import set_decision
from tests.e2e.test_admin import sign_in
from tests.hub import LiveHub
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine

PASSWORD = "correct-horse-battery"


def go_by_palette(page: Page, words: str) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type(words)
    expect(page.get_by_role("option").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def tab_to(page: Page, selector: str) -> None:
    for _ in range(80):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"{selector} is not reached by Tab.")


def test_a_viewer_is_invited_and_reads(
    browser: Browser, page: Page, hub: LiveHub, apollo: Project, ada: Caller
) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT")
    sign_in(page, hub, person("host", apollo, ADMIN))
    go_by_palette(page, "invitations")
    page.wait_for_url(re.compile("/admin/core/invitation/"))
    tab_to(page, ".addlink")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/admin/core/invitation/add/"))
    tab_to(page, "[name=name]")
    page.keyboard.type("Grace")
    page.keyboard.press("Enter")
    link = page.locator("#secret").inner_text()
    assert link.startswith(f"{hub.url}/invitation/")

    guest = browser.new_context().new_page()
    guest.goto(link)
    assert guest.url == f"{hub.url}/invitation/"
    for value in ("grace", PASSWORD, PASSWORD):
        guest.keyboard.type(value)
        guest.keyboard.press("Tab")
    guest.keyboard.press("Enter")
    guest.wait_for_url(f"{hub.url}/admin/core/accesstoken/add/?project=apollo&own=1&joined=1")
    expect(guest.get_by_role("heading", name="You belong to apollo now.")).to_be_visible()
    guest.goto(f"{hub.url}/admin/memory/decision/")
    expect(guest.get_by_role("link", name="api/auth")).to_be_visible()
    expect(guest.locator(".addlink")).to_have_count(0)
    guest.goto(f"{hub.url}/admin/core/project/{apollo.pk}/change/")
    expect(guest.get_by_text("24 default")).to_be_visible()
    expect(guest.get_by_role("button", name="Save")).to_have_count(0)
    guest.goto(link)
    expect(guest.get_by_text("This invitation has been used.")).to_be_visible()
    guest.context.close()


def test_the_retention_of_messages_is_changed(page: Page, hub: LiveHub, apollo: Project) -> None:
    sign_in(page, hub, person("host", apollo, ADMIN))
    page.goto(f"{hub.url}/admin/core/project/{apollo.pk}/change/")
    tab_to(page, "[name=message_hours]")
    page.keyboard.press("Control+a")
    page.keyboard.type("48")
    page.keyboard.press("Enter")
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    assert config_of(apollo.pk).message_hours == 48
