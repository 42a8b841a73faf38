"""The page of the API documentation in a real browser, loaded from the hub only."""

import pytest
from playwright.sync_api import Page

from tests.hub import LiveHub, RestClient

pytestmark = pytest.mark.one_engine


def test_the_page_refers_to_no_other_site(hub: LiveHub) -> None:
    reply = hub.http().send("GET", "/api/docs/", headers={"Accept": "text/html"})
    assert reply.status == 200
    assert "http://" not in reply.body
    assert "https://" not in reply.body


def test_the_page_shows_every_resource_without_other_sites(hub: LiveHub, page: Page) -> None:
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    # Only what is in view is rendered.
    page.set_viewport_size({"width": 1280, "height": 20_000})
    page.goto(f"{hub.url}/api/docs/")
    page.wait_for_selector("#operations-decisions-decisions_list")
    shown = page.inner_text("#swagger-ui")
    for resource in ("decisions", "layers", "call", "tokens", "activity"):
        assert resource in shown
    assert [url for url in requested if not url.startswith((hub.url, "data:"))] == []


def test_a_token_can_be_tried_out_on_the_page(hub: LiveHub, ada_rest: RestClient, page: Page) -> None:
    ada_rest.post("decisions/", {"key": "api/auth", "value": "JWT"})
    page.set_viewport_size({"width": 1280, "height": 4_000})
    page.goto(f"{hub.url}/api/docs/")
    page.click("button.authorize")
    bearer = page.locator(".auth-container", has_text="http, Bearer")
    bearer.locator("input").fill(str(ada_rest.token))
    bearer.locator("button[type=submit]").click()
    page.click("button.btn-done")
    projects = page.locator("#operations-projects-projects_list")
    for button in (".opblock-summary", ".try-out__btn", ".execute"):
        projects.locator(button).first.click()
    assert '"slug": "apollo"' in projects.locator(".live-responses-table").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_and_can_be_read_in_both_schemes(
    hub: LiveHub, page: Page, scheme: str, width: int
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{hub.url}/api/docs/")
    page.wait_for_selector("#operations-me-me_retrieve")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    color = "element => getComputedStyle(element).color"
    title = page.eval_on_selector(".info .title", color)
    assert title == ("rgb(15, 23, 42)" if scheme == "light" else "rgb(241, 245, 249)")
    assert page.inner_text(".docs-bar .docs-name").strip() == "ctxhub"
    assert "Where to begin" in page.inner_text(".info")
