"""A real browser: Debian's Chromium, driven by Playwright. Without it tests are skipped, and fail in CI."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tests.hub import LiveHub
from tests.streams import wait_for_streams
from tests.timing import PATIENCE_SECONDS

# The shell, which opens no windows, takes half the processor time of the whole browser.
SHELL, WHOLE = Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")
CHROMIUM = Path(os.environ.get("CHROMIUM") or (SHELL if SHELL.exists() else WHOLE))
NO_BROWSER = f"NOT TESTED IN A BROWSER: there is no {CHROMIUM} (apt-get install chromium-headless-shell)."
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One for all tests here: starting it takes a second of a processor."""
    if not CHROMIUM.exists():
        if os.environ.get("CI"):
            pytest.fail(NO_BROWSER)
        warnings.warn(NO_BROWSER, stacklevel=1)
        pytest.skip(NO_BROWSER)
    # Playwright runs an event loop in this thread, which makes Django refuse synchronous queries.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def window(browser: Browser) -> BrowserContext:
    """One for all tests: each new one fetches and compiles all scripts and styles again."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_SECONDS * 1_000)
    expect.set_options(timeout=PATIENCE_SECONDS * 1_000)
    return context


@pytest.fixture
def page(window: BrowserContext, hub: LiveHub) -> Iterator[Page]:
    """A new page of an unknown visitor. Errors and warnings in its console and failed requests fail the test.

    It is closed before the database of the hub is emptied.
    """
    page = window.new_page()
    problems: list[str] = []

    def note_message(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"{page.url}: {message.text}")

    def note_failure(request: Request) -> None:
        # Leaving a page aborts requests that are still loading.
        if request.failure != "net::ERR_ABORTED":
            problems.append(f"{request.url}: {request.failure}")

    page.on("console", note_message)
    page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
    page.on("requestfailed", note_failure)
    yield page
    page.wait_for_load_state()
    if page.url.startswith(hub.url):
        page.evaluate("localStorage.clear()")
    for each in window.pages:
        each.close()
    wait_for_streams(0)
    window.clear_cookies()
    assert problems == []
