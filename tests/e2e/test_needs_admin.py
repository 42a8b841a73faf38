"""The first page in a real browser: it tells what needs a person, renews itself, and is used by keyboard."""

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.services import set_decision
from messaging.models import Message
from tests.e2e.test_admin import go, sign_in
from tests.e2e.test_snapshots_admin import fits
from tests.hub import LiveHub
from tests.needs import hold, owe
from tests.people import ADMIN, person
from tracking.models import Lease

pytestmark = pytest.mark.one_engine

SILENT = {"hours": 2}
HOSTILE = "<img src=x onerror=alert(1)>\u202e" + "W" * 70


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, apollo: Project, ada: Caller) -> Page:
    set_decision(caller=ada, key="api/auth", value="JWT")
    sign_in(page, hub, person("vera", apollo, ADMIN))
    return page


@pytest.mark.parametrize("width", [1280, 390])
def test_who_owes_what_urgent_is_one_click_away(
    width: int, signed_in: Page, ada: Caller, ben: Caller
) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 844})
    owe(ada, ben, due={"hours": 3}, text="The key leaks.", priority="critical")
    hold(ada.speaking_as(HOSTILE), "src/**", silent_for=SILENT)
    go(page, "/admin/")
    first = page.locator(".ctx-need").first
    expect(first).to_contain_text("ben owes 1 critical acknowledgement for 3 h")
    assert fits(page)
    first.get_by_role("link", name="Open").click()
    expect(page.get_by_text("The key leaks.")).to_be_visible()


def test_the_page_renews_itself_and_a_lease_is_released_in_two_clicks(signed_in: Page, ben: Caller) -> None:
    page = signed_in
    expect(page.get_by_text("Nothing needs you.")).to_be_visible()
    hold(ben, "src/**", silent_for=SILENT)
    expect(page.get_by_text("ben holds src/** and is silent for 2 h")).to_be_visible()
    page.get_by_role("button", name="Release").click()
    page.get_by_role("button", name="Release").click()
    expect(page.get_by_text("1 lease was released.")).to_be_visible()
    expect(page.get_by_text("Nothing needs you.")).to_be_visible()
    assert Lease.unscoped.filter(released_at=None).count() == 0


def test_an_agent_is_reminded_by_keyboard_while_the_page_renews_itself(
    signed_in: Page, ada: Caller, ben: Caller
) -> None:
    page = signed_in
    owe(ada, ben, due={"hours": 3})
    go(page, "/admin/")
    page.get_by_role("button", name="Remind").focus()
    owe(ada, ada.speaking_as("eve"), due={"hours": 1}, priority="critical")
    expect(page.locator(".ctx-need").first).to_contain_text("eve owes")
    page.keyboard.press("Enter")
    expect(page.get_by_text("ben was reminded.")).to_be_visible()
    expect(page.get_by_text("ben owes 1 acknowledgement for 3 h; reminded just now")).to_be_visible()
    assert Message.unscoped.latest("pk").deliveries.get().name == "ben"
