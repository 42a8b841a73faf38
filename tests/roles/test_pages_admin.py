"""Every page of the admin, opened and sent to, for everybody who may sign in and for who may not."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.template.response import SimpleTemplateResponse

from ctxhub.core.models import Project, SignInFailure
from tests.databases import rolled_back
from tests.roles.admin_forms import CONFIRMED, NEW, TODO, form_of
from tests.roles.admin_pages import (
    DRAWN,
    OF_A_PART,
    OPENED,
    OWN_ALONE,
    SENT,
    Page,
    actions,
    is_opened,
    may,
    pages,
    shown,
)
from tests.roles.asking import Wrong, compare_with_nothing
from tests.roles.people import Asker
from tests.roles.world import WORD, World
from tests.tables import dump_project

Json = dict[str, Any]

# Numbers that may only grow, so that no row gets lost unnoticed.
PAGES_AT_LEAST, ACTIONS_AT_LEAST = 229, 50


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may open a page is decided before it is rendered, which takes ten times as long."""
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")
    monkeypatch.setattr(type(admin.site), "each_context", lambda site, request: {})


def get(asker: Asker, page: Page) -> Any:
    with rolled_back():
        return asker.browser().get(page.url)


def send(asker: Asker, page: Page, world: World) -> Any:
    form = form_of(asker, page, world)
    return asker.browser().post(page.url, form)


def stored(world: World) -> Json:
    """What is in apollo, and what of the hub people change in the admin."""
    hub = {model: sorted(model.objects.values_list(), key=repr) for model in (Project, SignInFailure)}
    accounts = sorted(User.objects.values_list("pk", "username", "password", "first_name", "is_active"))
    return {
        **dump_project(world.apollo),
        **{model.__name__: rows for model, rows in hub.items()},
        "users": accounts,
    }


def test_every_page_and_action_is_asked_for(world: World) -> None:
    found, chosen = list(pages(world)), list(actions(world))
    assert len(found) == len({*map(str, found)}) >= PAGES_AT_LEAST, len(found)
    assert len(chosen) == len({*map(str, chosen)}) >= ACTIONS_AT_LEAST, len(chosen)
    assert {*OPENED, *SENT, *OF_A_PART} - {*map(str, [*found, *chosen])} == set()
    assert {*map(str, chosen)} >= OWN_ALONE


@pytest.mark.usefixtures("unrendered")
def test_who_may_opens_a_page(world: World) -> None:
    wrong = Wrong()
    for asker in (each for each in world.people if not each.is_stranger):
        for page in pages(world):
            reply = get(asker, page)
            is_right = is_opened(reply, page) == may(asker, page.to_open)
            wrong.unless(is_right, f"{asker}: {page}", shown(reply))
    assert wrong == [], wrong.told


@pytest.mark.usefixtures("unrendered")
@pytest.mark.parametrize("rows", [pages, actions], ids=["pages", "actions"])
def test_who_may_changes_something_and_nobody_else_does(
    world: World, rows: Callable[[World], Iterator[Page]]
) -> None:
    wrong, before, found = Wrong(), stored(world), list(rows(world))
    for asker in (each for each in world.people if not each.is_stranger):
        for page in found:
            if page.name in TODO or may(asker, page.to_send):
                changed, reply = changed_by(asker, page, world, before)
                is_right = bool(changed) == may(asker, page.to_send)
                wrong.unless(is_right, f"{asker}: {page}", (changed, shown(reply)))
            else:
                send(asker, page, world)
        changed = differences(before, stored(world))
        wrong.unless(not changed, f"what {asker} may not", changed)
    assert wrong == [], wrong.told


def changed_by(asker: Asker, page: Page, world: World, before: Json) -> tuple[list[str], Any]:
    """The tables that sending to the page changed, where there is something to do for it; and the answer."""
    with rolled_back():
        if page.name in TODO:
            TODO[page.name](world, page.row)
            before = stored(world)
        reply = send(asker, page, world)
        return differences(before, stored(world)), reply


def differences(before: Json, after: Json) -> list[str]:
    return [table for table, rows in after.items() if rows != before.get(table)]


# -- Strangers ---------------------------------------------------------------------------------------


def open_page(asker: Asker, page: Page) -> tuple[Any, ...]:
    reply: Any = asker.browser().get(page.url)
    content = b"".join(reply.streaming_content) if reply.streaming else reply.content
    return *shown(reply), re.sub(DRAWN, r"\1", content.decode())


def send_page(asker: Asker, page: Page) -> tuple[Any, ...]:
    chosen = {"action": page.action, "_selected_action": [page.row.pk]} if page.action else {}
    return shown(asker.browser().post(page.url, {**CONFIRMED, **NEW, **chosen}))


@pytest.mark.usefixtures("no_time_passes")
def test_a_stranger_gets_the_same_pages_with_and_without_apollo(world: World) -> None:
    wrong, found = Wrong(), list(pages(world))
    strangers = [each for each in world.people if each.is_stranger]
    for asker, page, (status, *_, text) in compare_with_nothing(world, wrong, open_page, strangers, found):
        is_of_row = "?" not in page.url
        wrong.unless(status in (302, 403, 404) or not is_of_row, f"{asker}: {page}", status)
        wrong.unless(WORD not in text, f"{asker}: {page}", "shows a word of apollo")
    assert wrong == [], wrong.told


@pytest.mark.usefixtures("no_time_passes", "unrendered")
def test_a_stranger_changes_nothing_and_is_told_the_same(world: World) -> None:
    wrong = Wrong()
    strangers = [each for each in world.people if each.is_stranger]
    asked = [*pages(world), *actions(world)]
    compare_with_nothing(world, wrong, send_page, strangers, asked)
    assert wrong == [], wrong.told
