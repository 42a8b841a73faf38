"""Whoever uses the keyboard sees where it is: each element that Tab reaches shows it, and none is hidden."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import ADMIN, Caller
from messaging.messages.services import send_message
from tests.e2e.test_admin import sign_in
from tests.hub import LiveHub
from tests.roles.admin_pages import pages
from tests.roles.world import World, make_world

pytestmark = pytest.mark.one_engine

MOST_STEPS = 80
STEPS_AT_LEAST = 5
STILL = "*, *::before, *::after { transition: none !important; animation: none !important }"
# What differs between the focused element, with the two around it, and the same without the focus.
LOOK = """() => {
    const each = document.activeElement;
    if (!each || each === document.body || each.dataset.reached) return null;
    const name = each.outerHTML.slice(0, 140);
    each.dataset.reached = "yes";
    const around = [each, each.parentElement, each.parentElement?.parentElement];
    around.push(...each.querySelectorAll("rect"));
    const styles = around.filter(Boolean).map(one => [one]).concat([[each, "::after"]]);
    const drawn = () => JSON.stringify(styles.map(one => {
        const style = getComputedStyle(...one);
        const outline = style.outlineStyle === "none" ? 0 : style.outlineWidth;
        return [outline, style.boxShadow, style.borderColor, style.backgroundColor, style.stroke, style.top];
    }));
    const box = each.getBoundingClientRect();
    const isWithin = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    const focused = drawn();
    each.blur();
    const isShown = drawn() !== focused;
    each.focus({ focusVisible: true, preventScroll: true });
    return { name, isSeen: isWithin && box.width > 0, isShown };
}"""
PAGES = (
    *("core_agent_changelist", "core_event_timeline", "memory_decision_changelist", "memory_decision_read"),
    *("memory_decision_change", "memory_memory_read", "messaging_message_for_you", "messaging_message_read"),
    *("core_accesstoken_add", "core_project_change", "tracking_lease_changelist"),
)


@pytest.fixture
def world(hub: LiveHub) -> World:
    world = make_world()
    ada = Caller(project=world.apollo, agent="ada")
    send_message(caller=ada, to=["@people"], type="request", text="May I?", choices=["Yes", "No"])
    return world


def test_each_element_that_tab_reaches_shows_it(page: Page, hub: LiveHub, world: World) -> None:
    someone = next(each for each in world.people if each.is_staff and each.may(ADMIN))
    assert someone.user
    sign_in(page, hub, someone.user)
    found = {each.name: each.url for each in pages(world)}
    addresses = ["/admin/", "/admin/search/?q=apollonian", *(found[name] for name in PAGES if name in found)]
    assert [name for name in PAGES if name not in found] == []
    wrong: dict[str, Any] = {}
    for address in addresses:
        page.goto(hub.url + address)
        page.add_style_tag(content=STILL)
        # The menu is the same on all pages.
        seen = _tabbed(page, after=".ctx-skip" if address == "/admin/" else ".ctx-account")
        assert len(seen) >= STEPS_AT_LEAST, (address, len(seen))
        if poor := [each for each in seen if not (each["isSeen"] and each["isShown"])]:
            wrong[address] = poor
    assert wrong == {}


def test_the_menu_of_the_person_opens_by_keys(page: Page, hub: LiveHub, world: World) -> None:
    someone = next(each for each in world.people if each.is_superuser)
    assert someone.user
    sign_in(page, hub, someone.user)
    account = page.get_by_role("button", name=someone.user.get_username())
    account.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    dark = page.get_by_role("group", name="Colours").get_by_role("button", name="Dark")
    dark.focus()
    page.keyboard.press("Enter")
    expect(page.locator("html.dark")).to_have_count(1)
    expect(dark).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Log out")).to_be_hidden()
    page.locator("header").get_by_role("button", name="Menu").focus()
    page.keyboard.press("Enter")
    expect(account).to_be_hidden()


def _tabbed(page: Page, after: str) -> list[dict[str, Any]]:
    """What Tab reaches, until it leaves the page or begins again."""
    page.locator(after).focus()
    seen = []
    for _ in range(MOST_STEPS):
        page.keyboard.press("Tab")
        if (found := page.evaluate(LOOK)) is None:
            break
        seen.append(found)
    return seen
