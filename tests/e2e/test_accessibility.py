"""The admin for people who use a keyboard or a screen reader: axe finds nothing serious on its main pages."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page, expect

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.services import set_decision
from memory.memories.services import add_memory
from memory.models import Decision
from messaging.messages.services import send_message
from tests.hub import LiveHub
from tests.people import ADMIN, person
from tracking.leases.services import acquire_lease

pytestmark = pytest.mark.one_engine

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text()
FIND = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .filter(rule => ["serious", "critical"].includes(rule.impact))
    .map(rule => [rule.id, rule.nodes.slice(0, 3).map(node => node.html.slice(0, 160))])"""

# When the colours of the scheme have been set, and none is on its way to another one.
COLOURED = """() => new Promise(requestAnimationFrame).then(() => Promise.all(document.getAnimations()
    .filter(each => each.effect.getComputedTiming().endTime !== Infinity)
    .map(each => each.finished.catch(() => null)))).then(() => null)"""


def find_problems(page: Page) -> list[Any]:
    page.evaluate(AXE)
    found: list[Any] = page.evaluate(FIND)
    return found


@pytest.fixture
def user(apollo: Project, ada: Caller) -> User:
    set_decision(caller=ada, key="api/auth", value="JWT", tags=["api"], layer="data", rationale="Stateless.")
    set_decision(caller=ada, key="api/auth", value="JWT, signed", tags=["api"])
    send_message(caller=ada, to=["ben"], type="request", text="Would you look at it?")
    add_memory(caller=ada, title="Pool", content="Twice the workers.", context="backend")
    acquire_lease(caller=ada, paths=["src/api/**"], reason="Refactoring")
    create_token(project=apollo, name="laptop")
    return person("grace", apollo, ADMIN)


def addresses(project: Project) -> Iterator[str]:
    decision = Decision.objects.in_project(project).latest("pk").pk
    yield from ("/admin/", "/admin/search/?q=auth", "/admin/memory/decision/", "/admin/messaging/message/")
    yield from (f"/admin/memory/decision/{decision}/", f"/admin/memory/decision/{decision}/change/")
    yield from ("/admin/memory/memory/", "/admin/tracking/lease/", "/admin/core/event/")
    yield from ("/admin/core/event/timeline/", "/admin/core/accesstoken/", "/admin/core/invitation/add/")
    yield from ("/admin/core/accesstoken/add/?own=1", "/connect/")
    yield from (f"/admin/core/project/{project.pk}/change/", "/admin/views/layer_summary/")


def test_axe_finds_nothing_serious(page: Page, hub: LiveHub, apollo: Project, user: User) -> None:
    problems = {}
    page.goto(f"{hub.url}/admin/login/")
    problems["/admin/login/"] = find_problems(page)
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": hub.url}])
    for address in addresses(apollo):
        page.goto(hub.url + address)
        for colours in ("light", "dark"):
            page.emulate_media(color_scheme=colours)
            page.evaluate(COLOURED)
            problems[f"{address} {colours}"] = find_problems(page)
    assert {address: found for address, found in problems.items() if found} == {}


def test_the_keyboard_skips_the_navigation(page: Page, hub: LiveHub, user: User) -> None:
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": hub.url}])
    page.goto(f"{hub.url}/admin/memory/decision/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
