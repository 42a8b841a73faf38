"""A real browser: Debian's Chromium, driven by Playwright. Where there is none: skipped, and in CI failed."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from tests.hub import LiveHub

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
NOTHING_TO_BROWSE_WITH = f"NOT TESTED IN A BROWSER: there is no {CHROMIUM} (apt-get install chromium)."
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        if os.environ.get("CI"):
            pytest.fail(NOTHING_TO_BROWSE_WITH)
        warnings.warn(NOTHING_TO_BROWSE_WITH, stacklevel=1)
        pytest.skip(NOTHING_TO_BROWSE_WITH)
    # Playwright runs an event loop in this thread, which Django takes for asynchronous code.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, hub: LiveHub) -> Iterator[Page]:
    """A page of a new window. What its console complains of, whichever page it is on, fails the test.

    It is closed before the hub has no database any more.
    """
    context = browser.new_context()
    page = context.new_page()
    complaints: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(f"{page.url}: {message.text}")

    def note_failure(request: Request) -> None:
        # Whoever leaves a page ends what it still loads.
        if request.failure != "net::ERR_ABORTED":
            complaints.append(f"{request.url}: {request.failure}")

    page.on("console", listen)
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    page.on("requestfailed", note_failure)
    yield page
    page.wait_for_load_state()
    context.close()
    assert complaints == []
