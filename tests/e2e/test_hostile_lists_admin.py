"""No list of the admin is broken by a text: keys of 200 letters, from right to left, families of emoji."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.db import DatabaseError, models, transaction
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.e2e.test_admin import sign_in
from tests.hub import LiveHub
from tests.roles.world import World, make_world

pytestmark = pytest.mark.one_engine

LISTS_AT_LEAST, TEXTS_AT_LEAST = 35, 60
WIDTHS = (1440, 1280, 390)
TEXTS = ("k" * 200, "החלטה/הקרואר/" * 20, "👨‍👩‍👧" * 40)
# What pages are found by, and what is written by the hub alone.
KEPT = {"slug", "username", "password", "folded", "timezone", "time_zone"}

FITS = """() => ({
    page: document.documentElement.scrollWidth <= innerWidth,
    rows: [...document.querySelectorAll(".ctx-row")].every(row => {
        const box = row.parentElement.getBoundingClientRect(), own = row.getBoundingClientRect();
        return own.left >= box.left - 1 && own.right <= box.right + 1;
    }),
    parts: [...document.querySelectorAll(".ctx-row > *")].every(part =>
        part.getBoundingClientRect().right <= part.parentElement.getBoundingClientRect().right + 1),
    height: Math.max(...[...document.querySelectorAll(".ctx-row")].map(row => row.offsetHeight)),
})"""


@pytest.fixture
def world(hub: LiveHub) -> World:
    return make_world()


def make_hostile(model: type[models.Model]) -> int:
    """Gives each text of the rows that have room for it a hostile one. Returns how many columns took it."""
    return sum(_write(model, field, TEXTS[n % len(TEXTS)]) for n, field in enumerate(_texts(model)))


def _texts(model: type[models.Model]) -> Iterator[models.Field]:  # type: ignore[type-arg]
    for field in model._meta.concrete_fields:
        is_text = isinstance(field, models.CharField | models.TextField)
        if is_text and not field.choices and field.name not in KEPT and not field.primary_key:
            yield field


def _write(model: type[models.Model], field: "models.Field[str, str]", text: str) -> bool:
    rows = model._base_manager.exclude(**{field.name: ""})
    is_written = False
    for n, pk in enumerate(rows.values_list("pk", flat=True)):
        try:
            with transaction.atomic():
                cut = text[: (field.max_length or 600) - 3]
                model._base_manager.filter(pk=pk).update(**{field.name: f"{cut}{n:03}"})
            is_written = True
        except DatabaseError:
            continue  # A column that takes no such text shows none.
    return is_written


def lists(client: Client) -> list[str]:
    """The lists that have rows."""
    found = []
    for model in admin.site._registry:
        url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        if b"ctx-row-line" in client.get(url).content:
            found.append(url)
    return found


def test_no_text_breaks_a_list(page: Page, hub: LiveHub, world: World) -> None:
    assert sum(map(make_hostile, admin.site._registry)) >= TEXTS_AT_LEAST
    root = next(each for each in world.people if each.is_superuser)
    assert root.user
    found = lists(root.browser())
    assert len(found) >= LISTS_AT_LEAST, len(found)
    sign_in(page, hub, root.user)
    broken = []
    for url in found:
        page.goto(hub.url + url)
        expect(page.locator("#result_list")).to_be_visible()
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844})
            fits = page.evaluate(FITS)
            height = fits.pop("height")
            if not all(fits.values()) or height > (84 if width < 640 else 52):
                broken.append((url, width, fits, height))
    assert broken == []
