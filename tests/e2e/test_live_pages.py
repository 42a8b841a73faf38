"""The first page in several tabs: one holds the stream of the hub, and all of them renew."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.services import set_decision
from tests.e2e.test_admin import go, sign_in
from tests.hub import LiveHub
from tests.people import ADMIN, person
from tests.streams import open_streams, wait_for_streams

pytestmark = pytest.mark.one_engine


@pytest.fixture
def tabs(
    page: Page, window: BrowserContext, hub: LiveHub, apollo: Project, ben: Caller
) -> Iterator[list[Page]]:
    """Two tabs of one browser, both visible, that look at nothing by themselves: only when they are told."""
    window.route("**/live.*js", without_looking)
    set_decision(caller=ben, key="first", value="x")
    sign_in(page, hub, person("vera", apollo, ADMIN))
    other = window.new_page()
    other.goto(page.url)
    yield [page, other]
    window.unroute("**/live.*js")


def without_looking(route: Route) -> None:
    response = route.fetch()
    body = response.text().replace("const LOOKS = 30_000;", "const LOOKS = 3_000_000;")
    assert "LOOKS = 3_000_000" in body
    route.fulfill(response=response, body=body)


def asks(page: Page) -> list[str]:
    """The addresses that the page fetches from now on."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


def shows(page: Page, key: str) -> None:
    expect(page.locator("#away")).to_contain_text(key)


def test_two_tabs_renew_by_one_stream(tabs: list[Page], ben: Caller) -> None:
    wait_for_streams(1)
    asked = [asks(page) for page in tabs]
    for turn in range(3):
        set_decision(caller=ben, key=f"news/{turn}", value="x")
        for page in tabs:
            shows(page, f"news/{turn}")
        assert open_streams() == 1
    # They ask what is new when they are told so, and do not wait at the hub by themselves.
    assert sum("wait=" in url for urls in asked for url in urls[3:]) == 0


@pytest.mark.parametrize("leaving", [0, 1])
def test_the_other_tab_goes_on_when_one_leaves_the_page(leaving: int, tabs: list[Page], ben: Caller) -> None:
    staying = tabs[1 - leaving]
    wait_for_streams(1)
    set_decision(caller=ben, key="both", value="x")
    for page in tabs:
        shows(page, "both")
    go(tabs[leaving], "/admin/search/")
    for turn in range(2):
        set_decision(caller=ben, key=f"alone/{turn}", value="x")
        shows(staying, f"alone/{turn}")
    wait_for_streams(1)


def test_a_page_without_a_stream_waits_at_the_hub(
    page: Page, hub: LiveHub, apollo: Project, ben: Caller
) -> None:
    set_decision(caller=ben, key="first", value="x")
    page.add_init_script("delete window.EventSource")
    sign_in(page, hub, person("vera", apollo, ADMIN))
    asked = asks(page)
    while not any("wait=" in url for url in asked):
        page.wait_for_timeout(100)
    set_decision(caller=ben, key="polled", value="x")
    shows(page, "polled")
    assert open_streams() == 0


def test_the_stream_tells_of_all_projects_of_the_person(
    page: Page,
    window: BrowserContext,
    hub: LiveHub,
    apollo: Project,
    hermes: Project,
    ben: Caller,
    cy: Caller,
) -> None:
    for caller in (ben, cy):
        set_decision(caller=caller, key="first", value="x")
    vera = person("vera", apollo, ADMIN)
    person("vera", hermes, ADMIN)
    sign_in(page, hub, vera)
    go(page, "/admin/?project=apollo")
    other = window.new_page()
    other.goto(f"{hub.url}/admin/?project=hermes")
    wait_for_streams(1)
    for caller, tab in ((ben, page), (cy, other)):
        set_decision(caller=caller, key=f"of-{caller.project.slug}", value="x")
        shows(tab, f"of-{caller.project.slug}")
    assert open_streams() == 1
