"""Empty lists say what would be here and how it comes, or which filter to remove."""

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client

from ctxhub.console.base import ProjectAdmin
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project, SignInFailure
from memory.decisions.services import set_decision
from tests.people import ADMIN, member

pytestmark = pytest.mark.one_engine

NOUNS: list[Any] = [each for each in admin.site._registry.values() if isinstance(each, ProjectAdmin)]
NOUNS += [admin.site._registry[SignInFailure]]


@pytest.mark.parametrize("noun", NOUNS, ids=lambda noun: noun.opts.model_name)
def test_each_noun_says_how_its_rows_come(noun: Any) -> None:
    assert noun.when_empty.endswith(".")
    assert len(noun.when_empty) > 30


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
