"""An administrator adds a webhook, tests it, and sends what was given up again."""

import os
import re

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project, Webhook
from ctxhub.core.webhooks.delivering import deliver_due
from memory.decisions.services import set_decision
from tests.e2e.test_admin import sign_in
from tests.hub import LiveHub
from tests.people import ADMIN, person
from tests.receiver import running_receiver

pytestmark = pytest.mark.one_engine


def test_a_webhook_is_added_tested_and_told_again(
    page: Page, hub: LiveHub, apollo: Project, ada: Caller, settings: Settings
) -> None:
    settings.WEBHOOK_PRIVATE = True
    shots = os.environ.get("WEBHOOK_SHOTS", "")
    with running_receiver() as receiver:
        sign_in(page, hub, person("host", apollo, ADMIN))
        page.goto(f"{hub.url}/admin/core/webhook/")
        page.locator(".addlink").first.click()
        if shots:
            page.screenshot(path=f"{shots}/add.png", full_page=True)
        page.get_by_label("Address").fill(receiver.url)
        page.get_by_label("Only of these kinds").fill("decision")
        page.get_by_role("button", name="Save").first.click()
        assert page.locator("#secret").inner_text().startswith("ctx_")
        page.get_by_role("link", name="Test it").click()
        row = Webhook.unscoped.get()
        page.get_by_role("button", name="Send a test").click()
        expect(page.get_by_text("A test is on its way")).to_be_visible()
        expect(page.get_by_text("not yet")).to_be_visible()
        deliver_due(row.pk)
        page.get_by_role("link", name="Look again").click()
        expect(page.get_by_role("cell", name="delivered")).to_be_visible()
        receiver.answers = [(404, {}, b"<p>No such hook.</p>"), 410, 204, 500]
        for key in ("a", "b", "c", "d"):
            set_decision(caller=ada, key=key, value="x")
        deliver_due(row.pk)
        page.reload()
        expect(page.get_by_role("button", name="Send the 2 dead ones again")).to_be_visible()
        if shots:
            page.screenshot(path=f"{shots}/page.png", full_page=True)
        page.get_by_role("button", name="Send again").last.click()
        expect(page.get_by_text("1 delivery will be sent again.")).to_be_visible()
        deliver_due(row.pk)
        assert receiver.received[-1].body["redelivered"] is True
        Webhook.unscoped.update(
            is_active=False, off_because="20 tries in a row failed", off_at=row.created_at
        )
        for name in ("webhook/", f"webhook/{row.pk}/change/"):
            page.goto(f"{hub.url}/admin/core/{name}")
            expect(page.get_by_text(re.compile("switched (it )?off")).first).to_be_visible()
            if shots:
                page.screenshot(path=f"{shots}/off_{name.replace('/', '_')}.png", full_page=True)
        page.goto(f"{hub.url}/admin/")
        expect(page.get_by_text("20 tries in a row failed")).to_be_visible()
        if shots:
            page.screenshot(path=f"{shots}/first.png", full_page=True)
