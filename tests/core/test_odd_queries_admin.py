"""Odd query strings: dates that no calendar has, numbers that no column holds. No page of the admin fails."""

from collections.abc import Mapping

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from memory.decisions.services import set_decision
from tests.people import superuser

pytestmark = [pytest.mark.django_db, pytest.mark.every_engine]

HUGE = "9" * 30
ODD_TIMES = ["0001-01-01T00:00", "9999-12-31T23:59", "9999-12-31T23:59-14:00", "NaN", HUGE]
ODD_DATES: list[dict[str, str]] = [
    {"year": "9999"},
    {"year": "9999", "month": "12"},
    {"year": "1", "month": "1", "day": "1"},
    {"year": HUGE},
    {"year": "2026", "month": "2", "day": HUGE},
    {"year": "²"},
    {"month": "13"},
    {"gte": "9999-12-31T23:59-14:00"},
]
ODD_NAMES = [{"p": HUGE, "o": "1.-99"}, {"q": "\x00"}, {"id__in": f"1,{HUGE}"}]
NAMES_OF_PAGES = ("from", "to", "last", "page", "cursor", "q", "by", "line", "id", "after", "show", "against")


@pytest.fixture
def client(ada: Caller) -> Client:
    """A superuser's, of a project in the easternmost zone."""
    set_decision(caller=ada, key="k", value="x", tags=["t"])
    Project.objects.update(config={"time_zone": "Pacific/Kiritimati"})
    return superuser()


def answers(client: Client, address: str, query: Mapping[str, str]) -> bool:
    response = client.get(address, {"project": "apollo", **query})
    return response.status_code in (200, 302, 400, 404)


LISTS = {model._meta.label: (model, model_admin) for model, model_admin in admin.site._registry.items()}


@pytest.mark.parametrize("label", sorted(LISTS))
def test_a_list_answers(client: Client, label: str) -> None:
    model, model_admin = LISTS[label]
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    queries: list[dict[str, str]] = [*ODD_NAMES, {"from": "9999-12-31T23:59-14:00", "to": HUGE}]
    if dated := getattr(model_admin, "date_hierarchy", None):
        queries += [{f"{dated}__{part}": value for part, value in odd.items()} for odd in ODD_DATES]
    for query in queries:
        assert answers(client, address, query), query


def pages_of_projects() -> list[str]:
    """The names of pages that take no argument and are no list."""
    names = []
    for model_admin in admin.site._registry.values():
        for pattern in model_admin.get_urls():
            name = str(getattr(pattern, "name", None) or "")
            if name and not pattern.pattern.converters and not name.endswith(("_changelist", "_add")):
                names.append(f"admin:{name}")
    return sorted({*names, "admin:index", "admin:search", "admin_search"})


@pytest.mark.parametrize("name", pages_of_projects())
def test_a_page_of_a_project_answers(client: Client, name: str) -> None:
    address = reverse(name)
    queries = [
        *({"from": odd} for odd in ODD_TIMES),
        *(dict.fromkeys(NAMES_OF_PAGES, odd) for odd in ODD_TIMES),
    ]
    for query in [*queries, {"from": "9999-12-31T00:00", "to": "9999-12-31T23:59"}]:
        assert answers(client, address, query), query
