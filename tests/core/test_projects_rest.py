"""Projects over REST: those that the caller can see, who the caller is in them, and new ones."""

import pytest

from ctxhub.core.accounts.projects import create_project
from ctxhub.core.models import Membership, Project
from tests.hub import LiveHub, RestClient
from tests.signed_in import sign_in

PROJECTS = "/api/v1/projects/"


def slugs(client: RestClient) -> list[str]:
    return [item["slug"] for item in client.get(PROJECTS).body["items"]]


def test_a_token_sees_its_own_project(ada_rest: RestClient, cy_rest: RestClient) -> None:
    assert (slugs(ada_rest), slugs(cy_rest)) == (["apollo"], ["hermes"])


def test_a_person_sees_the_projects_they_belong_to(hub: LiveHub, apollo: Project, hermes: Project) -> None:
    assert slugs(sign_in(hub, "grace", apollo, Membership.Role.VIEWER)) == ["apollo"]
    assert slugs(sign_in(hub, "stranger", apollo)) == []
    assert slugs(sign_in(hub, "root", apollo, is_superuser=True)) == ["apollo", "hermes"]


def test_projects_come_in_pages(hub: LiveHub, apollo: Project) -> None:
    for number in range(4):
        create_project(slug=f"p{number}")
    root = sign_in(hub, "root", apollo, is_superuser=True)
    first = root.get(PROJECTS, limit=3).body
    second = root.get(PROJECTS, limit=3, cursor=first["next"]).body
    found = [item["slug"] for item in [*first["items"], *second["items"]]]
    assert (found, first["total"], second["next"]) == (["apollo", "p0", "p1", "p2", "p3"], 5, None)


def test_a_project_shows_the_agent_and_scopes_of_the_caller(ben_rest: RestClient) -> None:
    body = ben_rest.get("").body
    assert (body["slug"], body["agent"], body["scopes"]) == ("apollo", "ben", ["read", "write"])


def test_a_superuser_creates_a_project_with_its_vocabulary(hub: LiveHub, apollo: Project) -> None:
    root = sign_in(hub, "root", apollo, is_superuser=True)
    made = root.post(PROJECTS, {"slug": "gemini", "name": "Gemini 3"})
    assert (made.status, made.body["slug"], made.body["name"]) == (201, "gemini", "Gemini 3")
    assert root.get("/api/v1/projects/gemini/layers/").body["total"] == 5


@pytest.mark.parametrize("role", [Membership.Role.ADMIN, None])
def test_nobody_else_creates_projects(
    hub: LiveHub, apollo: Project, ada_rest: RestClient, role: Membership.Role | None
) -> None:
    for client in (ada_rest, sign_in(hub, "grace", apollo, role)):
        reply = client.post(PROJECTS, {"slug": "gemini"})
        assert (reply.status, reply.body["error"]) == (403, "not_allowed")
    assert hub.rest().post(PROJECTS, {"slug": "gemini"}).status == 401
    assert not Project.objects.filter(slug="gemini").exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"slug": ""}, 400),
        ({"slug": "no spaces"}, 400),
        ({"slug": "x" * 101}, 400),
        ({"slug": 5}, 400),
        ({"slug": "gemini", "name": "x" * 201}, 400),
        ({"slug": "gemini", "owner": "ada"}, 400),
        ({"slug": "apollo"}, 409),
    ],
    ids=str,
)
def test_a_bad_project_is_refused(
    hub: LiveHub, apollo: Project, body: dict[str, object], status: int
) -> None:
    root = sign_in(hub, "root", apollo, is_superuser=True)
    assert root.post(PROJECTS, body).status == status
    assert Project.objects.count() == 1
