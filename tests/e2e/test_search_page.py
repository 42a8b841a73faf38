"""The search page in a real browser."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.constraints.services import add_constraint
from memory.decisions.services import set_decision
from messaging.messages.services import send_message
from tests.hub import LiveHub
from tests.people import person, signed_in

pytestmark = pytest.mark.one_engine


@pytest.fixture
def user(apollo: Project, ada: Caller) -> User:
    """A member of apollo, which has a decision, a constraint and a message about sessions."""
    text = f"Sessions expire after 15 minutes. {'Tabs stay open for hours. ' * 40}"
    set_decision(caller=ada, key="auth/sessions", value=text, tags=["auth"])
    add_constraint(caller=ada, category="security", text="No session may outlive a deploy.")
    send_message(caller=ada, to=["ben"], text="Why do sessions expire so early?")
    return person("vi", apollo)


@pytest.fixture
def index(page: Page, hub: LiveHub, user: User) -> Page:
    enter(page.context, hub, user)
    page.goto(f"{hub.url}/admin/")
    return page


@pytest.fixture
def page_without_scripts(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


def enter(context: BrowserContext, hub: LiveHub, user: User) -> None:
    key = signed_in(user).cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": key, "url": hub.url}])


def box(page: Page) -> Locator:
    return page.get_by_role("searchbox", name="Search everything")


def test_a_search_is_filtered_by_kind_and_its_hit_explained(index: Page) -> None:
    page = index
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    page.keyboard.type("why do sessions expire")
    page.keyboard.press("Enter")

    expect(page.locator(".ctx-hit")).to_have_count(3)
    expect(page.locator(".ctx-excerpt mark").first).to_be_visible()
    page.get_by_role("navigation", name="Kind").get_by_role("link", name="Decisions").click()
    hit = page.locator(".ctx-hit")
    expect(hit).to_have_count(1)
    expect(hit.locator(".ctx-excerpt mark")).to_have_text(["Sessions", "expire"])

    expect(hit.get_by_role("table")).to_be_hidden()
    hit.get_by_text("explain").click()
    expect(hit.locator("tbody tr").filter(has_text="sessions")).to_contain_text("3 passages")
    hit.get_by_role("link", name="auth/sessions").click()
    expect(page.get_by_role("heading", name="auth/sessions", exact=True)).to_be_visible()


def test_a_slash_leads_to_the_search_box(index: Page) -> None:
    page = index
    page.goto(page.url + "core/event/")
    page.keyboard.press("/")
    expect(page.locator("#searchbar")).to_be_focused()


def test_the_palette_opens_in_place_and_is_used_by_keyboard(index: Page) -> None:
    page, start = index, index.url
    for path in (
        "",
        "core/event/",
        "memory/decision/add/?project=apollo",
        "search/?project=apollo&q=sessions",
    ):
        page.goto(start + path)
        page.keyboard.press("Control+k")
        palette = page.get_by_role("combobox", name="Search, or go to a page")
        expect(palette).to_be_focused()
        page.keyboard.type("sessions expire")
        expect(page.get_by_role("option").filter(has_text="auth/sessions")).to_be_visible()
        assert page.url == start + path
        page.keyboard.press("Escape")
        expect(palette).to_be_hidden()
    page.keyboard.press("Control+k")
    page.keyboard.type("sessions expire")
    expect(page.get_by_role("option").filter(has_text="auth/sessions")).to_be_visible()
    for _ in range(8):
        page.keyboard.press("ArrowDown")
        if "auth/sessions" in page.locator("[aria-selected=true]").inner_text():
            break
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="auth/sessions", exact=True)).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("leas")
    page.get_by_role("option", name="Leases page").click()
    expect(page).to_have_url(re.compile("/admin/tracking/lease/"))


def test_keys_wait_for_the_hits_of_what_was_typed(index: Page) -> None:
    page = index
    page.keyboard.press("Control+k")
    page.keyboard.type("con")
    expect(page.get_by_role("option", name="Constraints page")).to_be_visible()
    page.keyboard.type("texts")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/admin/memory/context/"))


def test_the_box_has_focus_on_an_empty_page_and_not_on_results(index: Page) -> None:
    page = index
    page.get_by_role("link", name=re.compile("Search$")).click()
    expect(box(page)).to_be_focused()
    page.keyboard.type("sessions")
    page.keyboard.press("Enter")
    expect(page.locator(".ctx-hit")).to_have_count(3)
    expect(box(page)).not_to_be_focused()


def test_search_works_without_scripts(page_without_scripts: Page, hub: LiveHub, user: User) -> None:
    page = page_without_scripts
    enter(page.context, hub, user)
    page.goto(f"{hub.url}/admin/core/event/")
    box(page).fill("deploy")
    box(page).press("Enter")
    hit = page.locator(".ctx-hit")
    expect(hit.locator("mark").first).to_have_text("deploy")
    hit.get_by_text("explain").click()
    expect(hit.get_by_role("table")).to_be_visible()


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_results_fit_the_screen(colours: str, width: int, index: Page, ada: Caller) -> None:
    set_decision(caller=ada, key=f"sessions/{'x' * 150}", value="y" * 900, tags=["z" * 90])
    page = index
    page.emulate_media(color_scheme="dark" if colours == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(page.url + "search/?q=sessions")
    for why in page.locator(".ctx-why summary").all():
        why.click()
    expect(page.locator(".ctx-hit")).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
