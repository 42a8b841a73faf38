"""An access token in a real browser: made, used by a client with the line that the page shows, revoked."""

import json
import re
import shlex

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.models import Project
from tests.e2e.test_admin import save, sign_in
from tests.hub import LiveHub
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine


def line_for(page: Page, client: str) -> str:
    """The line that connects a client, as the page of a new token shows it."""
    heading = page.get_by_role("heading", name=re.compile(f"^{client}"))
    return heading.locator("+ .ctx-copy code").inner_text()


def test_token_connect_revoke(page: Page, hub: LiveHub, apollo: Project) -> None:
    sign_in(page, hub, person("vera", apollo, ADMIN))
    page.get_by_role("link", name="Create an access token").click()
    page.get_by_label("Name").fill("laptop")
    save(page)
    secret = page.locator("#secret").inner_text()
    line = line_for(page, "Claude Code")
    assert f"{hub.url}/mcp" in shlex.split(line)
    assert any(secret in word for word in shlex.split(line))

    mcp, rest = hub.mcp(secret), hub.rest(secret)
    assert mcp.call("decision", "set", key="db/engine", value="PostgreSQL")["result"] == "created"
    assert rest.get("decisions/db/engine/").body["value"] == "PostgreSQL"

    page.get_by_role("link", name="All access tokens").click()
    page.locator(".ctx-row-title", has_text="laptop").click()
    page.get_by_role("link", name="Revoke").click()
    page.get_by_role("button", name="Revoke").click()
    expect(page.locator("#result_list")).to_contain_text("revoked")
    assert mcp.send("POST", "/mcp", json.dumps({}).encode()).status == 401
    assert rest.get("decisions/db/engine/").status == 401
    assert hub.rest(secret).post("decisions/", {"key": "k", "value": "v"}).status == 401
