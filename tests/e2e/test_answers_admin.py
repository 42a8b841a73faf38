"""From a person's click to the answer that the waiting agent has: two seconds, over HTTP and on stdio."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Membership, Project
from messaging.messages.services import send_message
from tests.e2e.test_admin import go, sign_in
from tests.hub import LiveHub
from tests.people import MEMBER, VIEWER, person
from tests.stdio import stdio_hub
from tests.timing import PATIENCE_SECONDS

pytestmark = pytest.mark.one_engine

MOST_SECONDS = 2.0
# Where others load the machine one may take longer; where it is the hub that is slow, each does.
TRIES = 5

Call = Callable[..., dict[str, Any]]


@pytest.fixture(params=[MEMBER, VIEWER], ids=["member", "viewer"])
def signed_in(request: Any, page: Page, hub: LiveHub, apollo: Project) -> Page:
    sign_in(page, hub, person("grace", apollo, Membership.Role(request.param)))
    return page


@contextmanager
def agent(transport: str, hub: LiveHub, token: str) -> Iterator[Call]:
    """ada, who calls tools."""
    if transport == "http":
        yield hub.mcp(token).call
        return
    with stdio_hub("--project", "apollo", "--agent", "ada") as client:
        client.start()
        yield client.call


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_the_agent_that_waits_hears_within_two_seconds(
    transport: str, signed_in: Page, hub: LiveHub, ada: Caller, ada_token: str
) -> None:
    took: list[float] = []
    with agent(transport, hub, ada_token) as call:
        while not took or (min(took) > most_seconds() and len(took) < TRIES):
            took.append(seconds_to_hear(signed_in, ada, call))
    assert min(took) <= most_seconds(), took


def seconds_to_hear(page: Page, ada: Caller, call: Call) -> float:
    """How long after the click the wait of the agent, which has begun before, is answered."""
    asked = send_message(caller=ada, text="May I drop legacy_cart?", to=["@people"], choices=["Yes", "No"])
    since = call("hub", "updates")["cursor"]
    heard: list[tuple[float, dict[str, Any]]] = []

    def wait() -> None:
        answer = call("hub", "wait", since=since, wait_seconds=int(PATIENCE_SECONDS))
        heard.append((time.monotonic(), answer))

    waiting = threading.Thread(target=wait)
    waiting.start()
    go(page, "/admin/")
    button = page.locator(f"#asked-{asked['id']}").get_by_role("button", name="Yes", exact=True)
    expect(button).to_be_visible()
    assert heard == []
    clicked = time.monotonic()
    button.click()
    waiting.join(PATIENCE_SECONDS)
    [(at, answer)] = heard
    assert answer["messages"] == 1
    return at - clicked


def most_seconds() -> float:
    """Longer on a machine on which more runs at once than it has processors."""
    return MOST_SECONDS * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
