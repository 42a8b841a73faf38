"""The page of an agent in a real browser: found from the first page and from the log, and then written to."""

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.toolbox.dispatch import call
from messaging.models import Message
from tests.e2e.test_admin import go, save, sign_in
from tests.hub import LiveHub
from tests.messaging.mail import known, texts
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine


def test_a_person_goes_to_an_agent_and_writes_to_it(
    page: Page, hub: LiveHub, apollo: Project, ada: Caller
) -> None:
    known(ada)
    call(ada, "decision", {"action": "set", "key": "api/auth", "value": "JWT"})
    call(ada, "file", {"action": "lease", "paths": ["src/**"]})
    sign_in(page, hub, person("vera", apollo, ADMIN))
    page.locator("#away").get_by_role("link", name="ada").first.click()
    expect(page.get_by_role("heading", name="ada", exact=True)).to_be_visible()

    go(page, "/admin/core/event/")
    page.locator("#result_list").get_by_role("link", name="ada").first.click()
    expect(page.get_by_text("It called nothing in the last 14 days.")).to_be_visible()
    held = page.locator("section", has=page.get_by_role("heading", name="Holds"))
    held.get_by_role("button", name="Release src/** of ada").click()
    page.locator("#release").get_by_role("button", name="Release").click()
    expect(page.get_by_text("It holds no path now.")).to_be_visible()

    page.get_by_role("link", name="Write").click()
    expect(page.get_by_label("To", exact=True)).to_have_value("ada")
    page.get_by_label("Text").fill("How far are you?")
    save(page)
    expect(page.locator(".ctx-bubble")).to_contain_text("How far are you?")
    assert Message.unscoped.latest("pk").sender.name == "vera"
    assert "How far are you?" in texts(ada)
