"""Members in a real browser: they connect an agent after joining, rotate its token, and revoke it."""

import re
import shlex

import pytest
from playwright.sync_api import Page, expect

from ctxhub.core.accounts.access_tokens import forget_tokens
from ctxhub.core.accounts.projects import invite
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent, Membership, Project
from tests.e2e.test_access_tokens_admin import line_for
from tests.e2e.test_admin import save, sign_in
from tests.hub import LiveHub
from tests.people import ADMIN, person

pytestmark = pytest.mark.one_engine

MEMBER = Membership.Role.MEMBER


def link_for(project: Project) -> str:
    host = person("host", project, ADMIN)
    caller = Caller(project=project, agent="host", is_person=True)
    secret = invite(caller=caller, name="Grace", role=MEMBER, created_by=host).secret
    return f"/invitation/{secret}/"


def test_who_joins_connects_an_agent_rotates_and_revokes(page: Page, hub: LiveHub, apollo: Project) -> None:
    page.goto(f"{hub.url}{link_for(apollo)}")
    page.get_by_label("Username").fill("grace")
    for name in ("password1", "password2"):
        page.locator(f"[name={name}]").fill("correct-horse-battery")
    page.get_by_role("button", name="Join").click()

    expect(page.get_by_role("heading", name=re.compile("You belong to apollo now"))).to_be_visible()
    page.get_by_label("Client").select_option("Codex")
    save(page)
    first = page.locator("#secret").inner_text()
    assert any(first in word for word in shlex.split(line_for(page, "Codex")))
    expect(page.get_by_role("heading", name="Cursor")).to_have_count(0)
    assert hub.mcp(first).call("decision", "set", key="a", value="b")["result"] == "created"
    assert [agent.name for agent in Agent.objects.in_project(apollo).filter(folded="grace-codex")]

    page.get_by_role("link", name="All access tokens").click()
    page.locator("#result_list").get_by_role("link", name="grace-codex").first.click()
    page.get_by_role("link", name="Rotate").click()
    page.get_by_role("button", name="Rotate").click()
    second = page.locator("#secret").inner_text()
    for secret in (first, second):
        assert hub.rest(secret).get("/api/v1/me/").body["agent"] == "grace-codex"

    page.get_by_role("link", name="All access tokens").click()
    expect(page.locator("#result_list")).to_contain_text("replaced")
    page.locator("#result_list").get_by_role("link", name="grace-codex").first.click()
    page.get_by_role("link", name="Revoke").click()
    page.get_by_role("button", name="Revoke").click()
    expect(page.locator("#result_list")).to_contain_text("revoked")
    forget_tokens()
    assert hub.rest(second).get("/api/v1/me/").status == 401


def test_an_account_with_the_name_of_an_agent_joins_under_another(
    page: Page, hub: LiveHub, apollo: Project, hermes: Project
) -> None:
    Agent.objects.create(project=apollo, name="claude", folded="claude")
    link = link_for(apollo)
    sign_in(page, hub, person("claude", hermes))
    page.goto(f"{hub.url}{link}")
    expect(page.get_by_text("has that name")).to_be_visible()
    page.get_by_label("Your new name").fill("Claude")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("alert")).to_contain_text("taken")
    page.get_by_label("Your new name").fill("claude-shannon")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", name=re.compile("You belong to apollo now"))).to_be_visible()
    assert Membership.objects.filter(project=apollo, user__username="claude-shannon").exists()
