"""Odd ids in addresses of the admin: a slug, a number beyond a column. No page fails."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import URLPattern

from tests.people import superuser

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]

NAMES = {"object_id", "row_id", "agent_id", "event_id", "id"}
ODD = ("demo", "0", "-1", "9" * 30, "1.5", "²", "１", "a_2Fb", "None", "%00", "1 2")


def patterns() -> Iterator[tuple[str, URLPattern]]:
    """The addresses of all pages of an object, with the labels of their models."""
    for model, model_admin in admin.site._registry.items():
        for pattern in model_admin.get_urls():
            if NAMES.intersection(getattr(pattern.pattern, "converters", ())):
                yield f"/admin/{model._meta.app_label}/{model._meta.model_name}/", pattern


PAGES = {f"{start}{pattern.pattern}": (start, pattern) for start, pattern in patterns()}


@pytest.mark.parametrize("page", sorted(PAGES))
@pytest.mark.usefixtures("ada")
def test_an_id_that_is_none_is_not_found(page: str) -> None:
    client: Client = superuser()
    start, pattern = PAGES[page]
    route = str(pattern.pattern)
    for odd in ODD:
        address = start + route
        for name in pattern.pattern.converters:
            for form in (f"<path:{name}>", f"<int:{name}>", f"<str:{name}>", f"<{name}>"):
                address = address.replace(form, odd)
        for response in (client.get(address), client.post(address)):
            assert response.status_code in (200, 302, 403, 404, 405), (address, response.status_code)
