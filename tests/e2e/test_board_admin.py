"""The board of leases in a real browser: a silent lease is released in two clicks, or by keyboard."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Event, Project
from tests.e2e.test_admin import go, sign_in
from tests.e2e.test_snapshots_admin import fits
from tests.hub import LiveHub
from tests.people import ADMIN, person
from tracking.leases.services import acquire_lease

pytestmark = pytest.mark.one_engine

BOARD = "/admin/tracking/lease/board/?show=silent"
LIST = "/admin/tracking/lease/?state=silent"


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, apollo: Project, ada: Caller, ben: Caller) -> Page:
    """Ada, who is silent, holds two paths; Ben holds one."""
    acquire_lease(caller=ada, paths=["src/api/**", "docs/a.md"])
    acquire_lease(caller=ben, paths=["src/web/**"])
    silent = clock.now() - timedelta(minutes=45)
    Agent.objects.in_project(apollo).filter(name="ada").update(last_seen_at=silent)
    sign_in(page, hub, person("vera", apollo, ADMIN))
    return page


def reason_in_log(project: Project) -> str:
    event = Event.objects.in_project(project).filter(verb="force_released").get()
    return str(event.data["reason"])


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("url", [BOARD, LIST])
def test_a_silent_lease_is_released_in_two_clicks(
    width: int, url: str, signed_in: Page, apollo: Project
) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 844})
    go(page, url)
    assert fits(page)
    button = page.get_by_role("button", name="Release docs/a.md, src/api/** of ada").first
    button.click()
    form = page.get_by_role("dialog")
    expect(form).to_contain_text("Release the lease of ada?")
    expect(form.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("Ada has died.")
    form.get_by_role("button", name="Release").click()
    expect(page.get_by_text("1 lease was released.")).to_be_visible()
    assert url.partition("?")[2] in page.url
    assert reason_in_log(apollo) == "Ada has died."


def test_the_keyboard_folds_a_folder_and_releases_a_lease(signed_in: Page, apollo: Project) -> None:
    page = signed_in
    go(page, "/admin/tracking/lease/board/")
    folder = page.locator("summary", has_text="src/")
    folder.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("web/**")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_text("web/**")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="api/**")).to_be_focused()
    page.keyboard.press("Tab")  # The holder's page.
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.type("Silent.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 lease was released.")).to_be_visible()
    assert reason_in_log(apollo) == "Silent."


def test_on_a_phone_the_line_of_now_lies_under_the_texts(signed_in: Page) -> None:
    page = signed_in
    page.set_viewport_size({"width": 390, "height": 844})
    go(page, "/admin/tracking/lease/board/")
    texts = page.locator(".ctx-hold > :is(.ctx-path, .ctx-holder)")
    assert texts.count() > 2
    layers = texts.evaluate_all(
        "texts => texts.map(text => [Number(getComputedStyle(text).zIndex),"
        " getComputedStyle(text).backgroundColor])"
    )
    over = page.locator(".ctx-over").first.evaluate("line => Number(getComputedStyle(line).zIndex)")
    assert all(layer > over and colour == "rgb(255, 255, 255)" for layer, colour in layers)
