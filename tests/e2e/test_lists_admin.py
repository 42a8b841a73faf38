"""The lists of the admin in a real browser: rows, keys, filters, the reading pane, steps, hostile texts."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from memory.models import Decision
from messaging.messages.services import send_message
from tests.e2e.axe import find_problems
from tests.e2e.test_admin import go, sign_in
from tests.hub import LiveHub
from tests.people import ADMIN, person
from tracking.leases.services import acquire_lease

pytestmark = pytest.mark.one_engine

DECISIONS = "/admin/memory/decision/"
KEYS = ("one", "two", "three", "four")
FITS = "document.documentElement.scrollWidth <= innerWidth"
# What lies outside of the rows' own box, and is not cut off there.
STANDS_OUT = """rows => rows.filter(row => [...row.children].some(each =>
    each.getBoundingClientRect().right > row.getBoundingClientRect().right + 1)).length"""
LONG = "k" * 190
TURNED = "\u05d4\u05d7\u05dc\u05d8\u05d4/\u0627\u0644\u0642\u0631\u0627\u0631"
EMOJI = "👨‍👩‍👧" * 40


@pytest.fixture
def user(apollo: Project) -> User:
    return person("vera", apollo, ADMIN)


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, user: User) -> Page:
    sign_in(page, hub, user)
    return page


@pytest.fixture
def decisions(ada: Caller) -> list[str]:
    """The keys, as the list orders them: the newest first."""
    for key in KEYS:
        set_decision(caller=ada, key=key, value=f"value of {key}", tags=["api"] if "o" in key else ["db"])
    return [*reversed(KEYS)]


def wide(page: Page, path: str = DECISIONS, width: int = 1440) -> None:
    page.set_viewport_size({"width": width, "height": 844 if width < 640 else 900})
    go(page, path)
    expect(page.locator("#result_list")).to_be_visible()


def shown(page: Page) -> list[str]:
    return page.locator(".ctx-row-title").all_inner_texts()


# -- Keys ------------------------------------------------------------------------------------------


def test_keys_move_select_and_open(signed_in: Page, decisions: list[str]) -> None:
    page = signed_in
    wide(page, width=1100)
    for key, title in (("j", "four"), ("j", "three"), ("k", "four"), ("k", "four")):
        page.keyboard.press(key)
        expect(page.get_by_role("link", name=title, exact=True)).to_be_focused()
    page.keyboard.press("x")
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.keyboard.press("x")
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="three", exact=True)).to_be_visible()


def test_who_types_types(signed_in: Page, decisions: list[str]) -> None:
    page = signed_in
    wide(page)
    page.keyboard.press("/")
    expect(page.locator("#searchbar")).to_be_focused()
    page.keyboard.type("jxkf")
    expect(page.locator("#searchbar")).to_have_value("jxkf")
    assert page.locator(".action-select:checked").count() == 0


def test_the_keys_are_told_on_the_page(signed_in: Page, decisions: list[str]) -> None:
    page = signed_in
    wide(page)
    page.locator("summary[aria-label=Keys]").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("next, previous row")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("next, previous row")).to_be_hidden()
    expect(page.locator("summary[aria-label=Keys]")).to_be_focused()


# -- Filters and order -----------------------------------------------------------------------------


def test_filters_are_chosen_and_removed_by_keys(signed_in: Page, decisions: list[str]) -> None:
    page = signed_in
    wide(page)
    page.keyboard.press("f")
    expect(page.get_by_role("link", name="active 4")).to_be_focused()
    menu = page.locator("details", has=page.locator("summary", has_text="Tag"))
    while not menu.locator("summary").evaluate("each => each === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    api = menu.get_by_role("link", name="api 3")
    while not api.evaluate("each => each === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".ctx-row")).to_have_count(3)
    expect(page).to_have_title("Decisions, 1 filter | ctxhub")
    expect(page.get_by_role("heading", name="Decisions, 1 filter")).to_be_visible()
    active = page.get_by_role("navigation", name="Active filters").get_by_role("link", name="tag: api")
    active.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".ctx-row")).to_have_count(4)


def test_the_order_is_chosen_in_a_menu(signed_in: Page, decisions: list[str]) -> None:
    page = signed_in
    wide(page)
    page.locator("summary", has_text="Sort").click()
    page.get_by_role("link", name="Key, ascending").click()
    expect(page.locator("summary", has_text="Sort: Key")).to_be_visible()
    assert shown(page) == sorted(KEYS)
    page.locator("summary", has_text="Sort").click()
    page.get_by_role("link", name="Key, descending").click()
    expect(page.locator(".ctx-row-title").first).to_have_text("two")
    assert shown(page) == sorted(KEYS, reverse=True)


def test_to_delete_stands_last_and_apart(signed_in: Page, decisions: list[str]) -> None:
    page = signed_in
    wide(page)
    expect(page.get_by_role("button", name="Delete selected decisions")).to_be_hidden()
    page.get_by_label("Select all rows of this page").check()
    buttons = page.get_by_role("group", name="With the selected rows").get_by_role("button")
    assert buttons.last.inner_text() == "Delete selected decisions"
    other, delete = buttons.nth(buttons.count() - 2).bounding_box(), buttons.last.bounding_box()
    assert other
    assert delete
    assert delete["x"] - other["x"] - other["width"] > 24
    buttons.last.click()
    page.get_by_role("button", name="Yes").click()
    expect(page.locator(".ctx-row")).to_have_count(0)
    assert not Decision.unscoped.exists()


# -- The reading pane, and steps -------------------------------------------------------------------


def test_a_row_opens_beside_the_list_and_stays_when_the_person_comes_back(
    signed_in: Page, decisions: list[str]
) -> None:
    page = signed_in
    wide(page)
    pane = page.locator("#ctx-pane")
    page.get_by_role("link", name="four", exact=True).click()
    expect(pane.get_by_role("heading", name="four", exact=True)).to_be_visible()
    page.keyboard.press("j")
    expect(pane.get_by_role("heading", name="three", exact=True)).to_be_visible()
    three = Decision.unscoped.get(key="three")
    assert page.url.endswith(f"{DECISIONS}#row-{three.pk}")
    pane.get_by_role("link", name="Edit").click()
    page.wait_for_url(f"**{DECISIONS}{three.pk}/change/**")
    page.go_back()
    expect(page.locator("#ctx-pane").get_by_role("heading", name="three", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#ctx-pane")).to_be_hidden()
    expect(page.get_by_role("link", name="three", exact=True)).to_be_focused()
    assert "#" not in page.url


def test_enter_leads_the_keyboard_into_the_pane(signed_in: Page, decisions: list[str]) -> None:
    page = signed_in
    wide(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#ctx-pane")).to_be_focused()
    expect(page.locator("#ctx-pane").get_by_role("heading", name="four", exact=True)).to_be_visible()


def test_steps_keep_the_order_and_the_filters_of_the_list(signed_in: Page, decisions: list[str]) -> None:
    page = signed_in
    wide(page, f"{DECISIONS}?tag=api", width=1100)
    assert shown(page) == ["four", "two", "one"]
    page.get_by_role("link", name="four", exact=True).click()
    expect(page.get_by_role("heading", name="four", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Previous")).to_have_count(0)
    for key, title in (("j", "two"), ("j", "one"), ("k", "two")):
        page.keyboard.press(key)
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("heading", name="one", exact=True)).to_be_visible()
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_text("That was the last of this list.")).to_be_visible()
    assert shown(page) == ["four", "two", "one"]


# -- Any text, any width ---------------------------------------------------------------------------


@pytest.fixture
def hostile(ada: Caller) -> None:
    odd = Caller(project=ada.project, agent=f"{TURNED[:40]} {'a' * 50}")
    for n, key in enumerate((LONG, TURNED, EMOJI[:150], "a/b", "<b>bold</b>")):
        tags = [f"{LONG[:90]}{n}-{each}" for each in range(6)]
        set_decision(caller=odd, key=key, value="v" * 600, tags=tags, layer="data", rationale=LONG * 3)
        add_memory(caller=odd, title=f"{LONG}{key}"[:480], content=EMOJI, context=LONG, tags=tags)
        to = [f"{'r' * 90}{each}" for each in range(6)]
        send_message(caller=odd, to=to, text=f"{LONG * 3} {n}", ack=True)
        acquire_lease(caller=odd, paths=[f"{LONG}/{n}/{'d' * 100}/**"], reason="r" * 300)


LISTS: tuple[str, ...] = (
    "memory/decision/",
    "memory/memory/",
    "memory/context/",
    "messaging/message/",
    "tracking/lease/",
)
LISTS += ("core/event/", "core/agent/", "core/tag/")


@pytest.mark.parametrize("width", [1440, 1280, 390])
@pytest.mark.usefixtures("hostile")
def test_no_text_widens_a_list(width: int, signed_in: Page) -> None:
    page = signed_in
    for path in LISTS:
        wide(page, f"/admin/{path}", width)
        assert page.evaluate(FITS), path
        assert page.locator(".ctx-row").evaluate_all(STANDS_OUT) == 0, path
        heights = page.locator(".ctx-row").evaluate_all("rows => rows.map(row => row.offsetHeight)")
        assert heights, path
        assert max(heights) <= (84 if width < 640 else 52), path
        if width >= 1280:
            page.keyboard.press("j")
            page.keyboard.press("Enter")
            expect(page.locator("#ctx-pane .ctx-pane-head")).to_be_visible()
            assert page.evaluate(FITS), path
            assert page.locator(".ctx-row").evaluate_all(STANDS_OUT) == 0, path


@pytest.mark.parametrize("path", [DECISIONS, "/admin/core/event/"])
@pytest.mark.parametrize(("width", "rows"), [(1440, 12), (390, 8)])
def test_a_screen_shows_many_rows(
    width: int, rows: int, path: str, signed_in: Page, ada: Caller, ben: Caller
) -> None:
    for n in range(20):
        set_decision(caller=ada, key=f"area/{n}", value="JWT, signed", tags=["api", "auth"], layer="data")
        send_message(caller=ben, to=["ada"], text="Hello")
    wide(signed_in, path, width)
    bottoms = signed_in.locator(".ctx-row").evaluate_all(
        "rows => rows.map(row => row.getBoundingClientRect().bottom)"
    )
    room = signed_in.evaluate("innerHeight") - (64 if width >= 1024 else 0)
    assert sum(bottom <= room for bottom in bottoms) >= rows


@pytest.mark.usefixtures("hostile")
def test_axe_finds_nothing_serious_beside_an_open_row(signed_in: Page) -> None:
    problems = {}
    for path in ("memory/decision/", "messaging/message/", "tracking/lease/"):
        wide(signed_in, f"/admin/{path}")
        signed_in.keyboard.press("j")
        signed_in.keyboard.press("x")
        signed_in.keyboard.press("Enter")
        expect(signed_in.locator("#ctx-pane .ctx-pane-head")).to_be_visible()
        problems[path] = find_problems(signed_in)
    assert {name: found for name, found in problems.items() if found} == {}
