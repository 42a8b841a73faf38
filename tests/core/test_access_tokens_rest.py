"""Access tokens over REST: created, shown once, listed without their secrets, revoked."""

import pytest

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
        {"scopes": "read"},
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
