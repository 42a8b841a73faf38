"""Empty lists say what would be here and how it comes, or which filter to remove."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.core.management import get_commands
from django.test import Client
from django.urls import Resolver404, resolve, reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from ctxhub.toolbox.actions import all_tools
from memory.decisions.services import set_decision
from tests.contract.pages import PAGES, Page
from tests.people import ADMIN, member, person, signed_in

pytestmark = pytest.mark.one_engine

LISTS: list[Any] = list(admin.site._registry.values())
of_each_list = pytest.mark.parametrize("noun", LISTS, ids=lambda noun: noun.opts.model_name)
CALL = re.compile(r"`([^`]+)`|<code class=\"ctx-mono\">([^<{]+)</code>")
TEMPLATES = Path(__file__).parents[2] / "ctxhub/templates/ctxhub"


def unknown_calls(text: str) -> list[str]:
    """What a text names as a call and nothing answers to."""
    return [call for found in CALL.findall(text) if not is_known(call := "".join(found))]


def is_known(call: str) -> bool:
    tool, _, name = call.partition(" ")
    if call.startswith("manage.py "):
        return call.split()[1] in get_commands()
    if tool == "POST":
        return resolve_in_project(name)
    return tool in all_tools() and (not name or name in all_tools()[tool].actions)


def resolve_in_project(address: str) -> bool:
    try:
        return bool(resolve(f"/api/v1/projects/apollo/{address}"))
    except Resolver404:
        return False


@of_each_list
def test_each_list_says_what_it_holds_and_how_that_comes(noun: Any) -> None:
    assert noun.when_empty.endswith(".")
    assert len(noun.when_empty) > 60
    assert unknown_calls(noun.when_empty) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.noun.kind)
def test_the_list_of_a_noun_names_the_call_that_makes_one(page: Page) -> None:
    call = f"{page.noun.tool} {page.noun.create}".removesuffix(f" {page.noun.tool}")
    assert f"`{call}`" in admin.site._registry[page.model].when_empty  # type: ignore[attr-defined]


def test_the_calls_that_empty_panels_name_are_there() -> None:
    wrong = {path.name: calls for path in TEMPLATES.glob("*.html") if (calls := unknown_panel_calls(path))}
    assert wrong == {}


def unknown_panel_calls(path: Path) -> list[str]:
    lines = [line for line in path.read_text().splitlines() if "ctx-quiet" in line and "{% if" not in line]
    texts = re.findall(r'<code class="ctx-mono">([a-z]+ [a-z_]+)</code>', "".join(lines))
    return [text for text in texts if not is_known(text)]


def test_an_empty_project_shows_each_list_with_its_sentence(hermes: Project) -> None:
    client = signed_in(person("stella", hermes, ADMIN))
    shown = 0
    for noun in LISTS:
        url = reverse(f"admin:{noun.opts.app_label}_{noun.opts.model_name}_changelist")
        answer = client.get(url)
        if answer.status_code == 200 and not answer.context["cl"].result_count:
            shown += 1
            page = answer.content.decode()
            sentence = noun.when_empty.replace("`", "")
            assert sentence in unescape(re.sub(r"</?code.*?>", "", page)), noun
            assert "Reset filters" not in page
            narrow = client.get(url, {"q": "zebra"} if noun.search_fields else {"project": "nowhere"})
            assert noun.search_fields == () or "Nothing has the words" in narrow.content.decode(), noun
            assert noun.search_fields == () or "Reset filters" in narrow.content.decode(), noun
    assert shown >= 28


def test_a_filtered_list_names_its_filters(apollo: Project, ada: Caller) -> None:
    set_decision(caller=ada, key="api/auth", value="JWT", tags=["api"])
    client: Client = member(apollo, ADMIN)
    address = "/admin/memory/decision/"
    page = client.get(address, {"tag": "api", "layer": "data"}).content.decode()
    _, empty = page.split("No decisions found")
    assert 'href="?tag=api"><span class="ctx-quiet">layer:</span> data' in empty
    assert "Nothing passes the filters." in empty
    assert (
        "Nothing has the words <strong>zebra</strong>."
        in client.get(address, {"q": "zebra"}).content.decode()
    )


def test_without_failed_sign_ins_the_page_says_what_it_would_show(admin_client: Client) -> None:
    page = admin_client.get("/admin/core/signinfailure/").content.decode()
    assert "There are no failed sign-ins yet." in page
    assert "Wrong passwords are counted here" in page
    assert "Reset filters" not in page
