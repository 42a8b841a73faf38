"""The line that connects a person's programs, on the first page and after joining, and what has called."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.accounts.own_tokens import create_own_token
from ctxhub.core.accounts.people import find_person
from ctxhub.core.models import AccessToken, Project
from tests.marks import unmarked
from tests.people import ADMIN, person, signed_in

ADD, STATE = reverse("admin:core_accesstoken_add"), reverse("admin_connected")
LINE = (
    "curl -fsSO http://testserver/connect/ctxhub.pyz &amp;&amp; python3 ctxhub.pyz connect http://testserver<"
)
WAITING = "Waiting for the first call"


def text(client: Client, path: str) -> str:
    return re.sub(r"</?a\b.*?>", "", unmarked(client.get(path).content.decode()))


def use(**of: object) -> None:
    AccessToken.unscoped.filter(**of).update(last_used_at=timezone.now())


def test_an_empty_hub_and_the_page_after_joining_show_one_line(apollo: Project) -> None:
    client = signed_in(person("grace", apollo))
    for path in (reverse("admin:index"), f"{ADD}?project=apollo&own=1&joined=1"):
        shown = text(client, path)
        assert LINE in shown
        assert WAITING in shown
        assert f'data-url="{STATE}?project=apollo"' in shown or f'data-url="{STATE}"' in shown


def test_it_tells_which_of_ones_own_programs_has_called(apollo: Project) -> None:
    grace = person("grace", apollo)
    caller = find_person(grace, "apollo")
    assert caller
    create_own_token(caller=caller, owner=grace, agent="grace-claude")
    client = signed_in(grace)
    assert WAITING in text(client, STATE)
    use(owner=grace)
    assert "Connected: grace-claude" in text(client, STATE)
    AccessToken.unscoped.update(revoked_at=timezone.now())
    assert WAITING in text(client, STATE)
    assert client.get(STATE)["Cache-Control"].startswith("no-store")


def test_others_tokens_are_told_to_administrators_alone(apollo: Project, hermes: Project) -> None:
    create_token(project=apollo, agent="ada")
    create_token(project=hermes, agent="cy")
    use()
    assert WAITING in text(signed_in(person("grace", apollo)), STATE)
    administrator = signed_in(person("root2", apollo, ADMIN))
    assert "Connected: ada" in text(administrator, STATE)
    assert "cy" not in text(administrator, STATE)
    assert "cy" not in text(administrator, f"{STATE}?project=hermes")


@pytest.mark.django_db
def test_nobody_else_is_told_anything() -> None:
    assert Client().get(STATE).status_code == 302
