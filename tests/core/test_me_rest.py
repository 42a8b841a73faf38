"""Who the caller is over REST, and the address of the caller's own project."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Agent, Membership, Project
from tests.hub import LiveHub, RestClient
from tests.signed_in import sign_in

ME = "/api/v1/me/"
OWN = "/api/v1/projects/-/"


def me(client: RestClient, headers: dict[str, str] | None = None, **query: Any) -> dict[str, Any]:
    body: dict[str, Any] = client.send("GET", client._url(ME, query), None, headers).body
    return body


# -- me --------------------------------------------------------------------------------------------


def test_a_token_is_told_its_project_agent_and_scopes(hub: LiveHub, apollo: Project) -> None:
    token = create_token(project=apollo, name="ci", scopes=["read"]).secret
    assert me(hub.rest(token)) == {
        "project": "apollo",
        "agent": "ci",
        "pinned": False,
        "scopes": ["read"],
        "role": None,
        "broadcasts": None,
    }


def test_a_pinned_token_is_told_so(ben_rest: RestClient) -> None:
    told = me(ben_rest)
    assert (told["agent"], told["pinned"], told["scopes"]) == ("ben", True, ["read", "write"])
    assert me(ben_rest, {"Ctxhub-Agent": "ada"})["error"] == "not_allowed"


def test_the_agent_named_in_the_request_is_told(hub: LiveHub, apollo: Project) -> None:
    client = hub.rest(create_token(project=apollo).secret)
    assert me(client, {"Ctxhub-Agent": "zoe"})["agent"] == "zoe"
    assert me(client, agent="yan")["agent"] == "yan"


def test_a_client_is_the_agent_of_a_token_that_is_not_pinned(
    hub: LiveHub, apollo: Project, ben_rest: RestClient
) -> None:
    client = hub.rest(create_token(project=apollo, name="setup").secret)
    named = {"Ctxhub-Client": "claude"}
    assert me(client, named)["agent"] == "claude"
    assert me(client, {**named, "Ctxhub-Agent": "zoe"})["agent"] == "zoe"
    assert me(client, {"Ctxhub-Client": "a" * 101})["error"] == "invalid"
    assert me(ben_rest, named)["agent"] == "ben"
    assert me(sign_in(hub, "grace", apollo), named)["agent"] == "grace"
    assert not Agent.objects.in_project(apollo).filter(name="setup").exists()


def test_a_token_that_may_only_write_is_told_as_well(hub: LiveHub, apollo: Project) -> None:
    token = create_token(project=apollo, scopes=["write"]).secret
    assert me(hub.rest(token))["scopes"] == ["write"]


@pytest.mark.parametrize(
    ("role", "scopes"),
    [
        (Membership.Role.VIEWER, ["read"]),
        (Membership.Role.MEMBER, ["read", "write"]),
        (Membership.Role.ADMIN, ["read", "write", "admin"]),
    ],
)
def test_a_person_is_told_their_role(
    hub: LiveHub, apollo: Project, hermes: Project, role: Membership.Role, scopes: list[str]
) -> None:
    told = me(sign_in(hub, "grace", apollo, role))
    expected = {"project": "apollo", "agent": "grace", "pinned": True, "scopes": scopes, "role": role.label}
    expected["broadcasts"] = False
    assert told == expected


def test_a_person_of_several_projects_names_one(hub: LiveHub, apollo: Project, hermes: Project) -> None:
    root = sign_in(hub, "root", apollo, is_superuser=True)
    unnamed: dict[str, Any] = {
        "project": None,
        "agent": "root",
        "pinned": True,
        "scopes": [],
        "role": "superuser",
        "broadcasts": False,
    }
    assert me(root) == unnamed
    named = me(root, project="hermes")
    assert (named["project"], named["role"], len(named["scopes"])) == ("hermes", "superuser", 3)


def test_a_stranger_sees_no_project(hub: LiveHub, apollo: Project, ada_rest: RestClient) -> None:
    stranger = sign_in(hub, "stranger", apollo)
    assert (me(stranger)["project"], me(stranger)["scopes"], me(stranger)["role"]) == (None, [], None)
    for client, slug in ((stranger, "apollo"), (ada_rest, "hermes"), (ada_rest, "nowhere")):
        assert me(client, project=slug)["error"] == "not_found"


@pytest.mark.parametrize("query", [{"slug": "apollo"}, {"agent": "${AGENT}"}, {"project": ["a", "b"]}])
def test_bad_parameters_are_refused(ada_rest: RestClient, query: dict[str, Any]) -> None:
    assert me(ada_rest, **query)["error"] == "invalid"


def test_nobody_is_told_nothing(hub: LiveHub, apollo: Project) -> None:
    assert hub.rest().get(ME).status == 401
    assert hub.rest("ctx_nonsense").get(ME).status == 401


def test_only_get_is_answered(ada_rest: RestClient) -> None:
    assert [ada_rest.post(ME).status, ada_rest.delete(ME).status] == [405, 405]


# -- projects/-/ -----------------------------------------------------------------------------------


def own(hub: LiveHub, token: str) -> RestClient:
    return hub.rest(token, project="-")


def test_a_dash_is_the_project_of_the_token(hub: LiveHub, ada_token: str, cy_rest: RestClient) -> None:
    client = own(hub, ada_token)
    assert client.get("").body["slug"] == "apollo"
    assert client.post("decisions/", {"key": "a/b", "value": "x"}).status == 201
    assert client.get("decisions/a/b/").body["value"] == "x"
    assert client.patch("decisions/a/b/", {"value": "y"}).status == 200
    assert client.post("call/decision/get/", {"key": "a/b"}).body["found"]
    assert cy_rest.get(f"{OWN}decisions/").body["count"] == 0


def test_pages_of_the_own_project_follow_one_another(hub: LiveHub, ada_token: str) -> None:
    client = own(hub, ada_token)
    for n in range(3):
        client.post("decisions/", {"key": f"k{n}", "value": "x"})
    first = client.get("decisions/", limit=2)
    assert OWN in first.headers["link"]
    assert client.get("decisions/", limit=2, cursor=first.body["next"]).body["count"] == 1


def test_a_repeated_write_is_known_by_either_address(hub: LiveHub, ada_token: str) -> None:
    body, headers = {"key": "k", "value": "x"}, {"Idempotency-Key": "k1"}
    results = [
        hub.rest(ada_token, project=slug).post("decisions/", body, headers).body["result"]
        for slug in ("-", "apollo")
    ]
    assert results == ["created", "created"]


def test_a_dash_is_the_only_project_of_a_person(hub: LiveHub, apollo: Project, hermes: Project) -> None:
    grace = sign_in(hub, "grace", apollo, Membership.Role.VIEWER)
    assert grace.get(OWN).body["slug"] == "apollo"
    root = sign_in(hub, "root", apollo, is_superuser=True)
    assert (root.get(OWN).status, root.get(OWN).body["allowed"]) == (400, ["apollo", "hermes"])
    assert sign_in(hub, "stranger", apollo).get(OWN).status == 400


def test_no_project_is_called_a_dash(hub: LiveHub, apollo: Project) -> None:
    root = sign_in(hub, "root", apollo, is_superuser=True)
    assert root.post("/api/v1/projects/", {"slug": "-"}).status == 400
    assert not Project.objects.filter(slug="-").exists()


def test_asking_who_one_is_shows_the_agent_as_seen(hub: LiveHub, apollo: Project) -> None:
    me(hub.rest(create_token(project=apollo, name="ci").secret))
    assert Agent.objects.in_project(apollo).filter(name="ci").exists()
