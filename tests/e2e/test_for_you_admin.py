"""An agent asks a person: it is seen at once, answered in one click, and the waiting agent hears of it."""

import threading
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Membership, Project
from messaging.messages.services import send_message
from messaging.models import Message
from tests.e2e.axe import find_problems
from tests.e2e.test_admin import go, sign_in
from tests.e2e.test_snapshots_admin import fits
from tests.hub import LiveHub
from tests.people import MEMBER, VIEWER, person
from tests.timing import PATIENCE_SECONDS

pytestmark = pytest.mark.one_engine

QUESTION = "May I drop legacy_cart? See decision:api/auth."
HOSTILE = "<img src=x onerror=alert(1)>\u202e" + "W" * 200 + " 🛒"


@pytest.fixture(params=[MEMBER, VIEWER], ids=["member", "viewer"])
def signed_in(request: Any, page: Page, hub: LiveHub, apollo: Project, ada: Caller) -> Page:
    send_message(caller=ada, text="Hello, all.")
    sign_in(page, hub, person("grace", apollo, Membership.Role(request.param)))
    return page


def waiting(hub: LiveHub, token: str) -> tuple[threading.Thread, list[Any]]:
    """An agent that waits for news."""
    heard: list[Any] = []
    client = hub.mcp(token)
    since = client.call("hub", "updates")["cursor"]

    def wait() -> None:
        heard.append(client.call("hub", "wait", since=since, wait_seconds=int(PATIENCE_SECONDS)))

    thread = threading.Thread(target=wait)
    thread.start()
    return thread, heard


def test_a_question_is_seen_at_once_and_answered_in_one_click(
    signed_in: Page, hub: LiveHub, ada: Caller, ada_token: str
) -> None:
    page = signed_in
    go(page, "/admin/")
    expect(page.get_by_role("heading", name="For you")).to_have_count(0)
    sent = send_message(caller=ada, text=QUESTION, to=["@people"], choices=["Yes", "No"])["id"]
    asked = page.locator(f"#asked-{sent}")
    expect(asked).to_contain_text("ada asks the people")
    expect(page).to_have_title("(1) Overview | ctxhub")
    thread, heard = waiting(hub, ada_token)
    asked.get_by_role("button", name="No", exact=True).click()
    expect(page.get_by_text("ada is told: No.")).to_be_visible()
    thread.join(PATIENCE_SECONDS)
    assert heard[0]["messages"] == 1
    assert Message.unscoped.get(reply_to=sent).choice == "No"
    expect(page.get_by_role("heading", name="For you")).to_have_count(0)
    expect(page).to_have_title("Overview | ctxhub")


def test_a_reply_that_is_being_typed_is_not_taken_away(signed_in: Page, ada: Caller) -> None:
    page = signed_in
    first = send_message(caller=ada, text=QUESTION, to=["grace"])["id"]
    go(page, "/admin/")
    page.locator(f"#asked-{first}-reply").click()
    page.get_by_label("Reply to ada").fill("Not before")
    send_message(caller=ada, text="Another one.", to=["grace"])
    expect(page.locator("#latest-events")).to_contain_text("Another one.")
    expect(page.get_by_label("Reply to ada")).to_have_value("Not before")
    page.get_by_label("Reply to ada").fill("Not before Friday.")
    page.locator(f"#asked-{first}").get_by_role("button", name="Send").click()
    expect(page.get_by_text("ada is told: your reply.")).to_be_visible()
    assert Message.unscoped.get(reply_to=first).text == "Not before Friday."


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_questions_break_nothing_and_are_answered_by_keyboard(
    width: int, signed_in: Page, ada: Caller
) -> None:
    page = signed_in
    page.set_viewport_size({"width": width, "height": 844})
    sent = send_message(
        caller=ada,
        text=HOSTILE,
        to=["grace"],
        priority="critical",
        choices=["W" * 60, "🛒 " + "é" * 57, "No"],
    )["id"]
    send_message(caller=ada.speaking_as("W" * 100), text="x", to=["grace"], type="request", ack=True)
    for address in ("/admin/", "/admin/messaging/message/for-you/"):
        go(page, address)
        expect(page.locator(f"#asked-{sent}")).to_contain_text("critical")
        assert fits(page)
        assert find_problems(page) == {}
    page.locator(f"#asked-{sent}-3").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("ada is told: No.")).to_be_visible()
