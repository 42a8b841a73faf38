"""Access tokens over REST: created, shown once, listed without their secrets, revoked."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import AccessToken, Membership, Project
from tests.hub import LiveHub, RestClient
from tests.signed_in import sign_in

TOKENS = "/api/v1/tokens/"
Role = Membership.Role


def test_a_new_token_works_and_is_shown_once(hub: LiveHub, ada_rest: RestClient) -> None:
    made = ada_rest.post(TOKENS, {"agent": "zoe", "scopes": ["read"]})
    secret = made.body["secret"]
    assert (made.status, made.body["agent"], made.body["scopes"]) == (201, "zoe", ["read"])
    assert (secret in made.body["connect"], "/mcp" in made.body["connect"]) == (True, True)
    assert hub.rest(secret).get("").body["agent"] == "zoe"
    assert secret not in str(ada_rest.get(TOKENS).body)


def test_a_token_has_the_scopes_read_and_write_by_default(hub: LiveHub, ada_rest: RestClient) -> None:
    secret = ada_rest.post(TOKENS).body["secret"]
    assert hub.rest(secret).get("").body["scopes"] == ["read", "write"]


def test_the_list_shows_no_digest(ada_rest: RestClient, apollo: Project) -> None:
    ada_rest.post(TOKENS, {"name": "ci", "expires_at": "2099-01-01T00:00:00Z"})
    body = ada_rest.get(TOKENS).body
    assert (body["items"][0]["name"], body["items"][0]["expires"]) == ("ci", "2099-01-01T00:00:00Z")
    for digest in AccessToken.objects.in_project(apollo).values_list("digest", flat=True):
        assert digest not in str(body)


def test_tokens_come_newest_first_in_pages(ada_rest: RestClient) -> None:
    for number in range(4):
        ada_rest.post(TOKENS, {"name": f"t{number}"})
    first = ada_rest.get(TOKENS, limit=3).body
    assert [item["name"] for item in first["items"]] == ["t3", "t2", "t1"]
    assert ada_rest.get(TOKENS, limit=3, cursor=first["next"]).body["items"][0]["name"] == "t0"


def test_a_revoked_token_is_refused_at_once_and_stays_in_the_list(hub: LiveHub, ada_rest: RestClient) -> None:
    made = ada_rest.post(TOKENS).body
    client = hub.rest(made["secret"])
    assert client.get("").status == 200
    assert ada_rest.delete(f"{TOKENS}{made['id']}/").status == 204
    assert client.get("").status == 401
    assert ada_rest.get(TOKENS).body["items"][0]["revoked"].endswith("Z")
    assert ada_rest.delete(f"{TOKENS}{made['id']}/").status == 204


def test_only_administrators_manage_tokens(ben_rest: RestClient, apollo: Project) -> None:
    token = AccessToken.objects.in_project(apollo).latest("pk")
    replies = [ben_rest.get(TOKENS), ben_rest.post(TOKENS), ben_rest.delete(f"{TOKENS}{token.pk}/")]
    assert [reply.status for reply in replies] == [403, 403, 403]
    token.refresh_from_db()
    assert token.revoked_at is None


def test_tokens_of_another_project_answer_like_missing_ones(
    ada_rest: RestClient, cy_rest: RestClient
) -> None:
    foreign = ada_rest.post(TOKENS, {"name": "theirs"}).body
    foreign_reply = cy_rest.delete(f"{TOKENS}{foreign['id']}/")
    missing_reply = cy_rest.delete(f"{TOKENS}999999/")
    assert foreign_reply.status == missing_reply.status == 404
    assert "apollo" not in str(foreign_reply.body)
    assert cy_rest.get(TOKENS, project="apollo").status == 404
    assert cy_rest.post(TOKENS, {"project": "apollo"}).status == 404
    assert "theirs" not in str(cy_rest.get(TOKENS).body)


@pytest.mark.parametrize(
    ("role", "status"), [(Role.ADMIN, 201), (Role.MEMBER, 403), (Role.VIEWER, 403), (None, 400)]
)
def test_a_person_manages_tokens_by_their_role(
    hub: LiveHub, apollo: Project, role: Role | None, status: int
) -> None:
    person = sign_in(hub, "grace", apollo, role)
    assert person.post(TOKENS).status == status
    assert person.get(TOKENS).status == (200 if status == 201 else status)


def test_a_person_of_several_projects_must_name_one(hub: LiveHub, apollo: Project, hermes: Project) -> None:
    root = sign_in(hub, "root", apollo, is_superuser=True)
    unclear = root.post(TOKENS)
    assert (unclear.status, unclear.body["missing"]) == (400, ["project"])
    assert unclear.body["allowed"] == ["apollo", "hermes"]
    made = root.post(TOKENS, {"project": "hermes"})
    assert hub.rest(made.body["secret"], project="hermes").get("").body["slug"] == "hermes"
    assert root.get(TOKENS, project="hermes").body["total"] == 1
    assert AccessToken.objects.in_project(hermes).get().created_by is not None


@pytest.mark.parametrize(
    "body",
    [
        {"scopes": ["everything"]},
        {"scopes": []},
        {"scopes": "['read'"},
        {"agent": "x" * 101},
        {"name": "x" * 101},
        {"name": 5},
        {"expires_at": "2001-01-01T00:00:00Z"},
        {"expires_at": "soon"},
        {"expires_at": "0001-01-01T00:00:00+14:00"},
        {"digest": "0"},
        {"secret": "ctx_mine"},
    ],
    ids=str,
)
def test_invalid_token_fields_are_refused(
    ada_rest: RestClient, apollo: Project, body: dict[str, object]
) -> None:
    before = AccessToken.objects.in_project(apollo).count()
    reply = ada_rest.post(TOKENS, body)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert AccessToken.objects.in_project(apollo).count() == before


# -- One's own -------------------------------------------------------------------------------------

OWN = "/api/v1/me/tokens/"


def token_of(body: dict[str, Any]) -> AccessToken:
    return AccessToken.unscoped.get(pk=body["id"])


@pytest.mark.parametrize("role", [Role.VIEWER, Role.MEMBER, Role.ADMIN])
def test_a_member_makes_sees_and_revokes_their_own(hub: LiveHub, apollo: Project, role: Role) -> None:
    grace = sign_in(hub, "grace", apollo, role)
    made = grace.post(OWN, {"agent": "grace-claude"})
    assert (made.status, made.body["agent"], made.body["owner"]) == (201, "grace-claude", "grace")
    assert "/mcp" in made.body["connect"]
    assert made.body["expires"]
    client = hub.rest(made.body["secret"])
    me = client.get("/api/v1/me/").body
    assert (me["agent"], me["pinned"], me["role"]) == ("grace-claude", True, None)
    assert me["scopes"] == (["read"] if role == Role.VIEWER else ["read", "write"])
    [listed] = grace.get(OWN).body["items"]
    assert (listed["id"], "secret" in listed) == (made.body["id"], False)
    assert grace.delete(f"{OWN}{made.body['id']}/").status == 204
    assert client.get("").status == 401


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "invalid"),
        ({"agent": ""}, 400, "invalid"),
        ({"agent": None}, 400, "invalid"),
        ({"agent": "a", "scopes": ["admin"]}, 403, "not_allowed"),
        ({"agent": "a", "scopes": []}, 400, "invalid"),
        ({"agent": "a", "expires_at": "2999-01-01T00:00:00Z"}, 400, "invalid"),
        ({"agent": "Grace"}, 403, "not_allowed"),
        ({"agent": "ada"}, 409, "conflict"),
        ({"agent": "a", "owner": "ada"}, 400, "invalid"),
    ],
    ids=str,
)
def test_what_is_not_ones_own_is_refused(
    hub: LiveHub, apollo: Project, ada_rest: RestClient, body: dict[str, object], status: int, code: str
) -> None:
    ada_rest.get("")  # So that the agent is known.
    reply = sign_in(hub, "grace", apollo, Role.MEMBER).post(OWN, body)
    assert (reply.status, reply.body["error"]) == (status, code)
    assert not AccessToken.unscoped.exclude(owner=None).exists()


def test_a_token_makes_no_token_for_its_owner(hub: LiveHub, apollo: Project, ada_rest: RestClient) -> None:
    made = sign_in(hub, "grace", apollo, Role.ADMIN).post(OWN, {"agent": "grace-claude", "scopes": ["admin"]})
    for client in (hub.rest(made.body["secret"]), ada_rest):
        replies = [
            client.get(OWN),
            client.post(OWN, {"agent": "more"}),
            client.delete(f"{OWN}{made.body['id']}/"),
        ]
        assert [reply.status for reply in replies] == [403, 403, 404]


def test_a_person_outside_has_none(hub: LiveHub, apollo: Project, hermes: Project) -> None:
    cy = sign_in(hub, "cy-person", hermes, Role.ADMIN)
    assert cy.post(OWN, {"agent": "x", "project": "apollo"}).status == 404
    assert cy.get(OWN, project="apollo").status == 404


# -- Rotation --------------------------------------------------------------------------------------


def test_a_rotated_token_is_shown_once_and_both_work(hub: LiveHub, ada_rest: RestClient) -> None:
    old = ada_rest.post(TOKENS, {"agent": "zoe"}).body
    reply = ada_rest.post(f"{TOKENS}{old['id']}/rotate/", {"grace": "2h"})
    new = reply.body
    assert (reply.status, new["agent"], new["secret"] != old["secret"]) == (201, "zoe", True)
    assert {hub.rest(each["secret"]).get("").body["agent"] for each in (old, new)} == {"zoe"}
    listed = {item["id"]: item for item in ada_rest.get(TOKENS).body["items"]}
    assert listed[old["id"]]["replaced_by"] == new["id"]
    assert listed[old["id"]]["expires"] is not None
    assert ada_rest.post(f"{TOKENS}{old['id']}/rotate/").status == 409
    assert ada_rest.post(f"{TOKENS}{new['id']}/rotate/", {"grace": "0"}).status == 201
    assert hub.rest(new["secret"]).get("").status == 401


@pytest.mark.parametrize("body", [{"grace": "soon"}, {"grace": 5}, {"grace": "31d"}, {"secret": "ctx_a"}])
def test_a_rotation_takes_a_length_of_time(ada_rest: RestClient, body: dict[str, object]) -> None:
    old = ada_rest.post(TOKENS).body
    assert ada_rest.post(f"{TOKENS}{old['id']}/rotate/", body).status == 400
    assert token_of(old).replaced_by is None


STATUSES = {
    # Who asks: for their own token, for that of another member, for the project's, for another project's.
    "viewer": (201, 403, 403, 404),
    "member": (201, 403, 403, 404),
    "admin": (201, 201, 201, 404),
    "superuser": (201, 201, 201, 201),
    "token read,write": (None, 403, 403, 404),
    "token admin": (None, 201, 201, 404),
    "stranger": (None, 404, 404, None),
}


@pytest.mark.parametrize("act", ["rotate", "revoke"])
@pytest.mark.parametrize("who", STATUSES)
def test_who_may_rotate_and_revoke(
    hub: LiveHub,
    apollo: Project,
    hermes: Project,
    ada_rest: RestClient,
    ben_rest: RestClient,
    who: str,
    act: str,
) -> None:
    """The rows of the matrix of roles, and of own and others' tokens."""
    hedy = sign_in(hub, "hedy", apollo, Role.MEMBER)
    theirs = hedy.post(OWN, {"agent": "hedy-claude"}).body["id"]
    of_project, foreign = create_token(project=apollo).row.pk, create_token(project=hermes).row.pk
    clients = {
        "token read,write": lambda: ben_rest,
        "token admin": lambda: ada_rest,
        "stranger": lambda: sign_in(hub, "cy-person", hermes, Role.ADMIN),
        "superuser": lambda: sign_in(hub, "grace", apollo, is_superuser=True),
    }
    client = clients.get(who, lambda: sign_in(hub, "grace", apollo, Membership.Role[who.upper()]))()
    made = client.post(OWN, {"agent": "grace-claude", "project": "apollo"})
    own = made.body["id"] if made.status == 201 else None
    for token_id, status in zip((own, theirs, of_project, foreign), STATUSES[who], strict=True):
        if status is None:
            continue
        path = f"{TOKENS}{token_id}/"
        reply = client.post(f"{path}rotate/") if act == "rotate" else client.delete(path)
        assert reply.status == (status if act == "rotate" or status != 201 else 204), token_id
        is_done = AccessToken.unscoped.filter(pk=token_id, replaced_by=None, revoked_at=None).count() == 0
        assert is_done == (status == 201)
