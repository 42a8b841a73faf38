"""Icons are drawn, not read aloud: on every page of the admin, and in every template of its theme."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import unfold
from django.test import Client

from ctxhub.console.icons import with_hidden_icons
from tests.roles.admin_pages import pages
from tests.roles.world import World, make_world

ICON = "material-symbols"
PAGES_AT_LEAST = 150


class Tags(HTMLParser):
    """The tags of a page: those of icons that are read aloud, and what is clicked that no key reaches."""

    def __init__(self) -> None:
        super().__init__()
        self.read_aloud: list[str] = []
        self.unreached: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if (
            tag in ("span", "div", "i")
            and ICON in (given.get("class") or "")
            and given.get("aria-hidden") != "true"
        ):
            self.read_aloud.append(str(self.get_starttag_text()))
        if "x-on:click" in given and tag not in ("button", "input") and "href" not in given:
            self.unreached.append(str(self.get_starttag_text()))


@pytest.fixture
def world(db: None) -> World:
    return make_world()


def shown(world: World) -> dict[str, Tags]:
    """The tags of every page that a superuser opens, by address."""
    root: Any = next(each for each in world.people if each.is_superuser)
    client: Client = root.browser()
    found = {}
    addresses = ["/admin/", "/connect/", "/admin/search/?q=auth", *(page.url for page in pages(world))]
    for address in addresses:
        reply: Any = client.get(address)
        if reply.status_code == 200 and "text/html" in reply["Content-Type"]:
            found[address] = tags = Tags()
            tags.feed(reply.content.decode())
    return found


def test_no_page_reads_its_icons_aloud_and_keys_reach_all_that_is_clicked(world: World) -> None:
    found = shown(world)
    assert len(found) >= PAGES_AT_LEAST, len(found)
    assert {address: tags.read_aloud for address, tags in found.items() if tags.read_aloud} == {}
    assert {address: tags.unreached for address, tags in found.items() if tags.unreached} == {}


def test_the_sign_in_does_not_read_its_icons_aloud(client: Client) -> None:
    tags = Tags()
    tags.feed(client.get("/admin/login/").content.decode())
    assert (tags.read_aloud, tags.unreached) == ([], [])


@pytest.mark.parametrize(
    ("template", "loaded"),
    [
        (
            '<span class="material-symbols-outlined">x</span>',
            '<span class="material-symbols-outlined" aria-hidden="true">x</span>',
        ),
        (
            '<i class="material-symbols-outlined" aria-hidden="true">',
            '<i class="material-symbols-outlined" aria-hidden="true">',
        ),
        ('<div class="a">x</div>', '<div class="a">x</div>'),
        ('<button class="material-symbols-outlined">', '<button class="material-symbols-outlined">'),
        ('<link href="material-symbols.css">', '<link href="material-symbols.css">'),
    ],
)
def test_a_template_is_loaded_with_hidden_icons(template: str, loaded: str) -> None:
    assert with_hidden_icons(template) == loaded


def test_tags_with_tags_of_templates_and_signs_are_understood() -> None:
    tag = """<span x-show="a > 1" class="material-symbols-outlined {% if size == "lg" %}-ml-2{% endif %}">"""
    assert with_hidden_icons(tag) == tag[:-1] + ' aria-hidden="true">'


def test_every_icon_of_the_theme_is_found() -> None:
    for path in Path(unfold.__path__[0]).rglob("*.html"):
        source = with_hidden_icons(path.read_text())
        icons = len(re.findall(r"<(?:span|div|i)\b[^<]*?material-symbols-outlined", source))
        assert source.count('aria-hidden="true"') >= icons, path
