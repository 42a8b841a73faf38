"""The admin for people who use keys or a screen reader: axe finds nothing on its pages, light or dark."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from ctxhub.core.accounts.projects import invite
from ctxhub.core.kit.caller import Caller
from ctxhub.core.leavers.password_links import make_password_link
from ctxhub.core.models import Membership
from tests.e2e.axe import find_problems
from tests.e2e.axe_exceptions import EXCEPTIONS
from tests.e2e.test_admin import sign_in
from tests.hub import LiveHub
from tests.roles.admin_pages import pages
from tests.roles.world import World, make_world

pytestmark = pytest.mark.one_engine

SHARDS = 3
PAGES_AT_LEAST = 90
OTHERS = {
    "overview": "/admin/",
    "search": "/admin/search/?q=apollonian&project=apollo",
    "nothing found": "/admin/search/?q=zzzz&project=apollo",
    "a view": "/admin/views/layer_summary/?project=apollo",
    "an empty list": "/admin/memory/decision/?q=zzzz",
    "connect": "/connect/",
    "a code": "/connect/code/",
    "API": "/api/docs/",
}


@pytest.fixture
def world(hub: LiveHub) -> World:
    return make_world()


@pytest.fixture
def root(world: World) -> Any:
    return next(each for each in world.people if each.is_superuser)


def addresses(world: World, root: Any) -> Mapping[str, str]:
    """A page of each template, and all that are made by views of their own, by name."""
    if not _named:
        _named.update(_first_of_each_template(world, root.browser()))
    urls = {page.name: page.url for page in pages(world)}
    return OTHERS | {name: urls[name] for name in _named.values()}


# By template, filled by the first test: to ask for all pages takes as long as what follows.
_named: dict[str, str] = {}


def _first_of_each_template(world: World, client: Client) -> dict[str, str]:
    """The name of the first page that each template draws."""
    found: dict[str, str] = {}
    for page in pages(world):
        reply: Any = client.get(page.url)
        if reply.status_code == 200 and (template := _template(reply)):
            found.setdefault(template, page.name)
    return found


def signed_out(world: World, root: Any) -> Mapping[str, str]:
    caller = Caller(project=world.apollo, agent="root", is_person=True)
    link = invite(caller=caller, name="Grace", role=Membership.Role.VIEWER, created_by=root.user)
    password = make_password_link(root.user).secret
    return {
        "sign in": "/admin/login/",
        "invitation": reverse("invitation_link", args=[link.secret]),
        "new password": reverse("password_link", args=[password]),
    }


def _template(reply: Any) -> str:
    """The first of the templates that a page is drawn with; "" for what is no page."""
    names = getattr(reply, "template_name", None) or ""
    return names if isinstance(names, str) else str(names[0])


@pytest.mark.parametrize("shard", range(SHARDS))
def test_axe_finds_nothing(page: Page, hub: LiveHub, world: World, root: Any, shard: int) -> None:
    found = addresses(world, root)
    assert len(found) >= PAGES_AT_LEAST, len(found)
    assert {name for name, _ in EXCEPTIONS} <= found.keys()
    problems = dict(_walk(page, hub, signed_out(world, root))) if shard == 0 else {}
    sign_in(page, hub, root.user)
    names = list(found)[shard::SHARDS]
    problems.update(_walk(page, hub, {name: found[name] for name in names}))
    told = {(name, rule): places for name, rules in problems.items() for rule, places in rules.items()}
    assert {each: places for each, places in told.items() if each not in EXCEPTIONS} == {}
    assert [each for each in EXCEPTIONS if each[0] in names and each not in told] == []


def _walk(
    page: Page, hub: LiveHub, addresses: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, list[str]]]]:
    for name, address in addresses.items():
        page.goto(hub.url + address)
        yield name, find_problems(page)


def test_the_keyboard_skips_the_navigation(page: Page, hub: LiveHub, root: Any) -> None:
    sign_in(page, hub, root.user)
    page.goto(hub.url + reverse("admin:memory_decision_changelist"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
