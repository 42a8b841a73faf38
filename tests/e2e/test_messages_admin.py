"""Messages in a real browser: a person reads a conversation, answers in it, and writes to everyone."""

import re

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from messaging.messages.requests import claim_request
from messaging.messages.services import acknowledge_messages
from messaging.models import Message
from tests.e2e.test_admin import go, sign_in
from tests.hub import LiveHub
from tests.messaging.mail import known, send, texts
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine


def test_a_person_reads_and_answers_a_conversation(
    page: Page, hub: LiveHub, apollo: Project, ada: Caller, ben: Caller
) -> None:
    eve = ada.speaking_as("eve")
    known(ada, ben, eve)
    question = "The login tests fail on main since the last change. Could somebody look?"
    first = send(ada, question, type="request", priority="critical", ack=True, payload={"run": 812})
    acknowledge_messages(caller=ben, ids=[first])
    claim_request(caller=ben, message_id=first)
    send(ben, "On it: the audience is checked before the key is rotated.", reply_to=first)
    send(ada, "For eve alone.", to=["eve", "zoe"])
    sign_in(page, hub, person("vera", apollo, ADMIN))

    page.get_by_text("unread urgent message").click()
    page.get_by_role("link", name=question).click()
    expect(page.get_by_text("Claimed by ben")).to_be_visible()
    page.get_by_text("Read by 1 of 2, acknowledged by 1").click()
    expect(page.get_by_text("has not acknowledged it")).to_be_visible()

    page.get_by_label("Reply").fill("Do not deploy before it is green.")
    page.get_by_role("button", name="Reply").click()
    expect(page.locator(".ctx-own")).to_contain_text("Do not deploy before it is green.")
    assert Message.unscoped.latest("pk").sender.name == "vera"
    assert texts(ben)[0] == "Do not deploy before it is green."

    go(page, "/admin/core/agent/")
    page.locator(".ctx-row", has_text=re.compile(r"\beve\b")).get_by_role("link", name="Its inbox").click()
    expect(page.get_by_role("link", name="For eve alone.")).to_be_visible()


def test_a_person_writes_to_everyone(page: Page, hub: LiveHub, apollo: Project, ada: Caller) -> None:
    known(ada)
    sign_in(page, hub, person("vera", apollo, ADMIN))
    page.get_by_role("link", name="Messages").click()
    page.locator(".addlink").first.click()
    page.get_by_label("Text").fill("Code freeze from noon.")
    page.get_by_label("Priority").select_option("high")
    page.get_by_label("Acknowledge within").fill("2h")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".ctx-bubble")).to_contain_text("Code freeze from noon.")
    assert texts(ada) == ["Code freeze from noon."]
