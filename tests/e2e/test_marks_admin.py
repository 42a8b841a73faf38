"""Characters that nobody sees, in a real browser: a text that would be read backwards is not."""

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.services import set_decision
from memory.models import Decision
from tests.e2e.test_admin import sign_in
from tests.hub import LiveHub
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine

BACKWARDS = "Pay \u202eRUE 0001\u202c to ada"
MARKED = "Pay ⟦U+202E⟧RUE 0001⟦U+202C⟧ to ada"


def test_a_value_is_read_as_it_is_stored(page: Page, hub: LiveHub, apollo: Project, ada: Caller) -> None:
    set_decision(caller=ada, key="pay/first", value=BACKWARDS)
    sign_in(page, hub, person("vera", apollo, ADMIN))
    page.goto(f"http://127.0.0.1:{hub.port}/admin/memory/decision/")
    expect(page.locator("#result_list")).to_contain_text(MARKED)
    page.get_by_role("link", name="pay/first").first.click()
    expect(page.locator("main, #content").first).to_contain_text(MARKED)
    page.get_by_role("link", name="Edit").click()
    expect(page.locator(".ctx-marks")).to_have_text(f"Characters that nobody sees: {MARKED}")
    page.get_by_label("Rationale").fill("Because.")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    saved = Decision.objects.in_project(apollo).get()
    assert (saved.value, saved.rationale) == (BACKWARDS, "Because.")
