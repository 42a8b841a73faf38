"""Access tokens over REST: made, shown once, listed without what would open them, revoked."""

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


def test_a_token_reads_and_writes_unless_told_otherwise(hub: LiveHub, ada_rest: RestClient) -> None:
    secret = ada_rest.post(TOKENS).body["secret"]
    assert hub.rest(secret).get("").body["scopes"] == ["read", "write"]


def test_the_list_shows_nothing_that_opens_anything(ada_rest: RestClient, apollo: Project) -> None:
    ada_rest.post(TOKENS, {"name": "ci", "expires_at": "2099-01-01T00:00:00Z"})
    said = ada_rest.get(TOKENS).body
    assert (said["items"][0]["name"], said["items"][0]["expires"]) == ("ci", "2099-01-01T00:00:00Z")
    for digest in AccessToken.objects.in_project(apollo).values_list("digest", flat=True):
        assert digest not in str(said)


def test_tokens_come_newest_first_in_pages(ada_rest: RestClient) -> None:
    for number in range(4):
        ada_rest.post(TOKENS, {"name": f"t{number}"})
    first = ada_rest.get(TOKENS, limit=3).body
    assert [item["name"] for item in first["items"]] == ["t3", "t2", "t1"]
    assert ada_rest.get(TOKENS, limit=3, cursor=first["next"]).body["items"][0]["name"] == "t0"


def test_a_revoked_token_ends_at_once_and_stays_in_the_list(hub: LiveHub, ada_rest: RestClient) -> None:
    made = ada_rest.post(TOKENS).body
    client = hub.rest(made["secret"])
    assert client.get("").status == 200
    assert ada_rest.delete(f"{TOKENS}{made['id']}/").status == 204
    assert client.get("").status == 401
    assert ada_rest.get(TOKENS).body["items"][0]["revoked"].endswith("Z")
    assert ada_rest.delete(f"{TOKENS}{made['id']}/").status == 204


def test_tokens_are_an_administrators(ben_rest: RestClient, apollo: Project) -> None:
    token = AccessToken.objects.in_project(apollo).latest("pk")
    replies = [ben_rest.get(TOKENS), ben_rest.post(TOKENS), ben_rest.delete(f"{TOKENS}{token.pk}/")]
    assert [reply.status for reply in replies] == [403, 403, 403]
    token.refresh_from_db()
    assert token.revoked_at is None


def test_another_projects_tokens_do_not_exist(ada_rest: RestClient, cy_rest: RestClient) -> None:
    theirs = ada_rest.post(TOKENS, {"name": "theirs"}).body
    gone = cy_rest.delete(f"{TOKENS}{theirs['id']}/")
    nothing = cy_rest.delete(f"{TOKENS}999999/")
    assert gone.status == nothing.status == 404
    assert "apollo" not in str(gone.body)
    assert cy_rest.get(TOKENS, project="apollo").status == 404
    assert cy_rest.post(TOKENS, {"project": "apollo"}).status == 404
    assert "theirs" not in str(cy_rest.get(TOKENS).body)


@pytest.mark.parametrize(
    ("role", "status"), [(Role.ADMIN, 201), (Role.MEMBER, 403), (Role.VIEWER, 403), (None, 400)]
)
def test_a_person_keeps_tokens_by_their_role(
    hub: LiveHub, apollo: Project, role: Role | None, status: int
) -> None:
    person = sign_in(hub, "grace", apollo, role)
    assert person.post(TOKENS).status == status
    assert person.get(TOKENS).status == (200 if status == 201 else status)


def test_a_person_of_many_projects_names_one(hub: LiveHub, apollo: Project, hermes: Project) -> None:
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
def test_a_bad_token_is_refused(ada_rest: RestClient, apollo: Project, body: dict[str, object]) -> None:
    before = AccessToken.objects.in_project(apollo).count()
    reply = ada_rest.post(TOKENS, body)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert AccessToken.objects.in_project(apollo).count() == before
