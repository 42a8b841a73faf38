"""Use and cost in a real browser: a click from the first page."""

import re

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from ctxhub.core.use.tally import WRITER
from tests.e2e.test_admin import go, sign_in
from tests.e2e.test_snapshots_admin import fits
from tests.hub import LiveHub
from tests.people import VIEWER, person

pytestmark = pytest.mark.one_engine


@pytest.fixture
def signed_in(page: Page, hub: LiveHub, apollo: Project) -> Page:
    """A page of a viewer; ada and ben have called the hub."""
    for name in ("ada", "ben"):
        agent = hub.mcp(create_token(project=apollo, name=name).secret, **{"Ctxhub-Agent": name})
        agent.call("decision", "set", key="api/auth", value=f"by {name}")
        agent.call("search", query="api auth")
    WRITER.flush()
    sign_in(page, hub, person("vera", apollo, VIEWER))
    return page


def test_use_and_cost_by_agent_tool_and_day_are_one_click_away(signed_in: Page) -> None:
    page = signed_in
    page.get_by_role("link", name=re.compile("^(monitoring )?Use$")).click()
    agents = page.locator("section", has=page.get_by_role("heading", name="By agent"))
    for name in ("ada", "ben"):
        row = agents.get_by_role("row", name=name)
        # Tokens, saved, reads, writes, errors.
        expect(row.get_by_role("cell").nth(0)).to_have_text(re.compile("^[1-9]"))
        expect(row.get_by_role("cell").nth(2)).to_have_text("1")
        expect(row.get_by_role("cell").nth(3)).to_have_text("1")
    chart = page.get_by_role("img", name=re.compile("^Tokens of answers, a bar for each .*, by tool$"))
    expect(chart).to_be_visible()
    legend = page.get_by_role("list", name="Legend")
    expect(legend).to_contain_text("decision")
    expect(legend).to_contain_text("search")
    changed = page.locator("section", has=page.get_by_role("heading", name="Keys that change most"))
    expect(changed.get_by_role("row", name="api/auth")).to_contain_text("1.0.1")


def test_the_chart_is_a_table_for_the_keyboard_and_fits_a_phone(signed_in: Page) -> None:
    page = signed_in
    page.set_viewport_size({"width": 390, "height": 844})
    go(page, "/admin/core/tokenuse/cost/")
    page.get_by_text("As a table").focus()
    page.keyboard.press("Enter")
    today = page.locator("details[open] tbody tr").last
    expect(today.get_by_role("cell").last).to_have_text(re.compile("^[1-9]"))
    assert fits(page)
