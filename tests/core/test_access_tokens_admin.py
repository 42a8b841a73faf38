"""Access tokens in the admin: shown once, revoked, never changed."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from ctxhub.core.accounts.services.access_tokens import authenticate, create_token
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import Unauthenticated
from ctxhub.core.models import AccessToken, Project
from tests.people import ADMIN, member

ADD, LIST = reverse("admin:core_accesstoken_add"), reverse("admin:core_accesstoken_changelist")


@pytest.fixture
def admin(apollo: Project) -> Client:
    return member(apollo, ADMIN, "ada")


def make(client: Client, **fields: object) -> HttpResponse:
    form = {"name": "laptop", "agent": "", "scopes": ["read", "write"], "lasts": "", "once": "form-1"}
    return client.post(ADD, {**form, **fields})  # type: ignore[return-value]


def secret_in(page: HttpResponse) -> str:
    found = re.search(r"ctx_[\w-]{40}", page.content.decode())
    assert found
    return found[0]


def test_the_secret_on_the_page_opens_the_project(admin: Client, apollo: Project) -> None:
    caller = authenticate(secret_in(make(admin)))
    assert (caller.project, caller.scopes) == (apollo, frozenset({"read", "write"}))


def test_the_page_has_a_line_for_each_client(admin: Client) -> None:
    page = make(admin)
    text = page.content.decode()
    assert all(client in text for client in ("Claude Code", "Codex", "Cursor", "VS Code"))
    assert text.count(secret_in(page)) == 5


def test_the_secret_is_only_on_that_page(admin: Client) -> None:
    page = make(admin)
    secret = secret_in(page)
    sessions = [str(session.get_decoded()) for session in Session.objects.all()]
    places = [*sessions, str(page.cookies), str(AccessToken.unscoped.values()), str(page.headers)]
    for address in (LIST, f"/admin/core/accesstoken/{AccessToken.unscoped.get().pk}/change/", "/admin/"):
        places.append(admin.get(address).content.decode())
    assert not [place for place in places if secret in place]


def test_the_page_is_not_cached(admin: Client) -> None:
    assert "no-store" in make(admin)["Cache-Control"]


def test_submitting_the_form_twice_creates_one_token(admin: Client) -> None:
    make(admin)
    again = make(admin)
    assert again.status_code == 302
    assert AccessToken.unscoped.count() == 1


def test_a_token_can_be_pinned_and_expire(admin: Client) -> None:
    make(admin, agent="ben", lasts="30", scopes=["read"])
    token = AccessToken.unscoped.select_related("agent").get()
    assert (str(token.agent), token.scopes) == ("ben", ["read"])
    assert token.expires_at is not None
    assert 29 <= (token.expires_at - clock.now()).days <= 30


def test_a_token_stores_its_creator(admin: Client) -> None:
    make(admin)
    assert str(AccessToken.unscoped.get().created_by) == "ada"


@pytest.mark.parametrize(
    "fields", [{"scopes": []}, {"scopes": ["root"]}, {"agent": "\x00"}, {"name": "n" * 101}]
)
def test_invalid_fields_are_shown_on_the_form(admin: Client, fields: dict[str, object]) -> None:
    page = make(admin, **fields)
    assert page.status_code == 200
    assert "Please correct the error" in page.content.decode()
    assert not AccessToken.unscoped.exists()


def test_revoking_asks_for_confirmation_and_revokes_the_token(admin: Client, apollo: Project) -> None:
    new = create_token(project=apollo, name="laptop")
    url = reverse("admin:core_accesstoken_revoke", args=[new.row.pk])
    assert "Revoke 1 access token?" in admin.get(url).content.decode()
    authenticate(new.secret)
    admin.post(url, {"confirmed": "yes"})
    with pytest.raises(Unauthenticated, match="revoked"):
        authenticate(new.secret)


def test_several_tokens_are_revoked_at_once(admin: Client, apollo: Project) -> None:
    rows = [create_token(project=apollo).row for _ in range(3)]
    sent = {"action": "revoke_selected", "_selected_action": [row.pk for row in rows]}
    assert "Revoke 3 access tokens?" in admin.post(LIST, sent).content.decode()
    admin.post(LIST, {**sent, "confirmed": "yes"})
    assert AccessToken.unscoped.filter(revoked_at__isnull=False).count() == 3


def test_a_token_can_be_neither_changed_nor_deleted(admin: Client, apollo: Project) -> None:
    row = create_token(project=apollo, name="laptop").row
    url = reverse("admin:core_accesstoken_change", args=[row.pk])
    assert admin.post(url, {"name": "other", "digest": "0" * 64}).status_code == 403
    assert admin.post(url.replace("change", "delete"), {"post": "yes"}).status_code == 403
    sent = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
    admin.post(LIST, sent)
    row.refresh_from_db()
    assert row.name == "laptop"


def test_the_digest_cannot_be_guessed_by_filters(admin: Client, apollo: Project) -> None:
    create_token(project=apollo)
    assert admin.get(LIST, {"digest__startswith": "a"}).status_code == 400


def test_the_list_shows_the_state_of_each_token(admin: Client, apollo: Project) -> None:
    create_token(project=apollo, name="ended", expires_at=clock.now() + timedelta(seconds=1))
    AccessToken.unscoped.update(expires_at=clock.now())
    create_token(project=apollo, name="laptop")
    text = admin.get(LIST).content.decode()
    assert "expired" in text
    assert "usable" in text


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [("", "http://hub.lan:8000/mcp"), ("https://hub.example", "https://hub.example/mcp")],
)
def test_the_client_lines_use_the_base_url_or_else_the_request_host(
    base_url: str, expected: str, admin: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ALLOWED_HOSTS, settings.BASE_URL = ["hub.lan"], base_url or "http://127.0.0.1:8000"
    monkeypatch.setenv("CTXHUB_BASE_URL", base_url)
    admin.defaults["HTTP_HOST"] = "hub.lan:8000"
    assert expected in make(admin).content.decode()
