"""Access tokens in the admin: shown once, revoked, never changed."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from ctxhub.core.accounts.access_tokens import authenticate, create_token
from ctxhub.core.accounts.own_tokens import create_own_token
from ctxhub.core.accounts.people import find_person
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Unauthenticated
from ctxhub.core.models import AccessToken, Membership, Project
from memory.decisions.services import set_decision
from tests.needs import told
from tests.people import ADMIN, MEMBER, VIEWER, member, person, signed_in

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


def test_the_page_has_a_line_for_each_client_and_one_for_hooks(admin: Client) -> None:
    page = make(admin)
    text = page.content.decode()
    assert all(client in text for client in ("Claude Code", "Codex", "Cursor", "VS Code"))
    assert text.count(secret_in(page)) == 6


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


# -- One's own, and rotation -----------------------------------------------------------------------

OWN = {"client": "claude", "agent": "", "scopes": ["read", "write"], "lasts": "90", "once": "form-1"}


def own(client: Client, **fields: object) -> HttpResponse:
    return client.post(ADD, {**OWN, **fields})  # type: ignore[return-value]


@pytest.mark.parametrize(("role", "scopes"), [(VIEWER, ["read"]), (MEMBER, ["read", "write"])])
def test_a_member_connects_an_agent(role: Membership.Role, scopes: list[str], apollo: Project) -> None:
    client = member(apollo, role)
    form = client.get(ADD).content.decode()
    assert ('value="write"' in form) == ("write" in scopes)
    assert 'value="admin"' not in form
    page = own(client, scopes=scopes)
    caller = authenticate(secret_in(page))
    assert (caller.agent, sorted(caller.scopes)) == ("vi-claude", scopes)
    text = page.content.decode()
    assert "claude mcp add" in text
    assert "codex mcp add" not in text
    row = AccessToken.unscoped.get()
    assert row.owner
    assert row.expires_at
    assert own(client).status_code == 302  # Sent again.
    assert AccessToken.unscoped.count() == 1


@pytest.mark.parametrize(
    "fields", [{"scopes": ["admin"]}, {"scopes": []}, {"lasts": ""}, {"lasts": "9999"}, {"agent": "vi"}]
)
def test_a_member_makes_no_other_token(fields: dict[str, object], apollo: Project) -> None:
    page = own(member(apollo), **fields)
    assert page.status_code == 200
    assert not AccessToken.unscoped.exists()


def test_a_member_cannot_make_a_token_of_the_project(apollo: Project) -> None:
    client = member(apollo)
    client.post(ADD, {"name": "ci", "agent": "", "scopes": ["read"], "lasts": "30", "once": "a"})
    assert AccessToken.unscoped.get().owner


def test_an_admin_makes_their_own_as_well(admin: Client) -> None:
    assert f"{ADD}?project=apollo&amp;own=1" in admin.get(ADD).content.decode()
    page = admin.post(f"{ADD}?own=1", {**OWN, "client": ""})
    assert authenticate(secret_in(page)).agent == "ada-agent"  # type: ignore[arg-type]
    assert str(AccessToken.unscoped.get().owner) == "ada"


def test_the_page_after_joining_says_so(apollo: Project) -> None:
    text = member(apollo).get(f"{ADD}?project=apollo&own=1&joined=1").content.decode()
    headings = ["You belong to apollo now. Connect an agent of yours", "By one line", "With a token that you"]
    told = [text.index(f">{heading}") for heading in headings]
    assert told == sorted(told), "what has happened, the line, and what few need"


def test_a_member_sees_their_own_alone(apollo: Project, admin: Client) -> None:
    make(admin, name="of-the-project")
    other = member(apollo, MEMBER, "hedy")
    own(other)
    client = member(apollo)
    own(client)
    rows = {row.name: row for row in AccessToken.unscoped.all()}
    assert [row.name for row in client.get(LIST).context["cl"].result_list] == ["vi-claude"]
    for name in ("hedy-claude", "of-the-project"):
        for act in ("change", "revoke", "rotate"):
            url = reverse(f"admin:core_accesstoken_{act}", args=[rows[name].pk])
            assert client.get(url).status_code in (302, 403)
            client.post(url, {"confirmed": "yes", "grace": "0"})
    sent = {"action": "revoke_selected", "_selected_action": [row.pk for row in rows.values()]}
    client.post(LIST, {**sent, "confirmed": "yes"})
    left = AccessToken.unscoped.filter(revoked_at=None, replaced_by=None)
    assert {row.name for row in left} == {"hedy-claude", "of-the-project"}
    assert {row.name for row in admin.get(LIST).context["cl"].result_list} == {*rows}


def test_a_token_is_rotated_and_shown_once(apollo: Project) -> None:
    client = member(apollo)
    old = secret_in(own(client))
    url = reverse("admin:core_accesstoken_rotate", args=[AccessToken.unscoped.get().pk])
    assert "Rotate vi-claude?" in client.get(url).content.decode()
    page = client.post(url, {"grace": "24h", "agent": ""})
    new = secret_in(page)  # type: ignore[arg-type]
    assert (new != old, authenticate(new).agent, authenticate(old).agent) == (True, "vi-claude", "vi-claude")
    assert "replaced" in client.get(LIST).content.decode()
    assert client.post(url, {"grace": "24h"}).status_code in (302, 403)
    assert AccessToken.unscoped.count() == 2


def test_an_admin_sees_whose_token_ended_with_the_membership(admin: Client, apollo: Project) -> None:
    own(member(apollo))
    assert "no member&#x27;s" not in admin.get(LIST).content.decode()
    Membership.objects.get(user__username="vi").delete()
    assert "no member&#x27;s" in admin.get(LIST).content.decode()


def test_a_grace_that_is_none_is_not_taken(admin: Client, apollo: Project) -> None:
    row = create_token(project=apollo).row
    url = reverse("admin:core_accesstoken_rotate", args=[row.pk])
    assert admin.post(url, {"grace": "100d"}).status_code == 200
    assert AccessToken.unscoped.count() == 1


def test_who_has_a_token_hears_a_week_before_its_end(ada: Caller, apollo: Project, hermes: Project) -> None:
    set_decision(caller=ada, key="a", value="b")
    user = person("vi", apollo)
    caller = find_person(user, "apollo")
    assert caller
    soon, later = (clock.now() + timedelta(days=days, minutes=5) for days in (3, 8))
    create_own_token(caller=caller, owner=user, agent="vi-claude", expires_at=soon)
    create_own_token(caller=caller, owner=user, agent="vi-codex", expires_at=later)
    create_token(project=apollo, name="ci", expires_at=soon)
    create_token(project=hermes, name="theirs", expires_at=soon)
    mine = "Your access token vi-claude of the agent vi-claude expires in 3 days"
    assert told(signed_in(user)) == [mine]
    admin = member(apollo, ADMIN, "vera")
    assert told(admin) == ["The access token ci expires in 3 days"]
    assert told(member(apollo, VIEWER, "eve")) == []


def acts(client: Client, row: AccessToken) -> list[str]:
    """The buttons on the page of a token, within what a phone and the pane of the list show of it."""
    page = client.get(reverse("admin:core_accesstoken_change", args=[row.pk])).content.decode()
    main = page.partition("<main")[2]
    return [name for name in ("Rotate", "Revoke") if f"/{row.pk}/{name.lower()}/" in main]


def test_the_page_of_a_token_has_buttons_that_ask_first(admin: Client, apollo: Project) -> None:
    row = create_token(project=apollo, name="ci").row
    assert acts(admin, row) == ["Rotate", "Revoke"]
    for act in ("rotate", "revoke"):
        asked = admin.get(reverse(f"admin:core_accesstoken_{act}", args=[row.pk])).content.decode()
        assert f"{act.capitalize()} " in asked
        assert "</form>" in asked
    admin.post(reverse("admin:core_accesstoken_revoke", args=[row.pk]), {})
    row.refresh_from_db()
    assert (row.revoked_at, row.replaced_by) == (None, None)
    admin.post(reverse("admin:core_accesstoken_revoke", args=[row.pk]), {"confirmed": "yes"})
    assert acts(admin, row) == []


def test_a_token_that_was_replaced_can_only_be_revoked(apollo: Project) -> None:
    client = member(apollo)
    own(client)
    row = AccessToken.unscoped.get()
    assert acts(client, row) == ["Rotate", "Revoke"]
    client.post(reverse("admin:core_accesstoken_rotate", args=[row.pk]), {"grace": "24h", "agent": ""})
    assert acts(client, row) == ["Revoke"]


def test_viewers_and_strangers_see_no_page_of_a_token_of_the_project(
    apollo: Project, hermes: Project
) -> None:
    row = create_token(project=apollo, name="ci").row
    for client in (member(apollo, VIEWER, "vera"), member(hermes, ADMIN, "stella")):
        assert acts(client, row) == []
