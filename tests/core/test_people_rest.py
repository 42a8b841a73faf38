"""The people of the hub over REST, for superusers who are signed in."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import AccessToken, Project
from tests.people import ADMIN, person, signed_in

PEOPLE = "/api/v1/people/"


@pytest.fixture
def root(db: None) -> Client:
    return signed_in(User.objects.create_superuser("root"))


@pytest.fixture
def grace(apollo: Project) -> User:
    user = person("grace", apollo, ADMIN)
    create_token(project=apollo, name="ci", created_by=user)
    return user


def get(client: Client, path: str = "", **query: Any) -> Any:
    return client.get(f"{PEOPLE}{path}", query).json()


def test_people_are_listed_with_their_tokens(root: Client, grace: User) -> None:
    items = {item["username"]: item for item in get(root)["items"]}
    assert [*items] == ["grace", "root"]
    expected = {"username": "grace", "name": "", "active": True, "superuser": False, "tokens": 1}
    assert items["grace"].items() >= {**expected, "last_sign_in": None}.items()
    assert [item["username"] for item in get(root, ordering="-username", text="R")["items"]] == [
        "root",
        "grace",
    ]
    assert get(root, state="deactivated")["items"] == []
    assert get(root, limit=1)["items"][0]["username"] == "grace"


def test_a_person_tells_what_would_end_and_is_deactivated(root: Client, grace: User) -> None:
    signed_in(grace)
    seen = get(root, "grace/")
    assert (seen["tokens"], seen["sign_ins"], seen["active"]) == (1, 1, True)
    told = root.post(f"{PEOPLE}grace/deactivate/", content_type="application/json")
    assert told.json() == {"username": "grace", "active": False, "tokens": 1, "sign_ins": 1}
    assert AccessToken.unscoped.get().revoked_at
    assert [item["username"] for item in get(root, state="deactivated")["items"]] == ["grace"]


def test_a_link_for_a_password_works(root: Client, grace: User) -> None:
    made = root.post(f"{PEOPLE}grace/password_link/", content_type="application/json")
    assert (made.status_code, made.json()["username"]) == (201, "grace")
    path = made.json()["link"].removeprefix("http://testserver")
    assert Client().get(path)["Location"] == "/password/"
    root.post(f"{PEOPLE}grace/deactivate/", content_type="application/json")
    refused = root.post(f"{PEOPLE}grace/password_link/", content_type="application/json")
    assert (refused.status_code, refused.json()["error"]) == (409, "conflict")


def test_what_cannot_be_is_refused(root: Client, grace: User) -> None:
    assert root.get(f"{PEOPLE}nobody/").status_code == 404
    assert root.post(f"{PEOPLE}nobody/deactivate/", content_type="application/json").status_code == 404
    refused = root.post(f"{PEOPLE}root/deactivate/", content_type="application/json")
    assert (refused.status_code, "yourself" in refused.json()["message"]) == (409, True)


@pytest.mark.parametrize("path", ["deactivate/", "password_link/"])
def test_administrators_of_a_project_and_tokens_may_not(path: str, grace: User, apollo: Project) -> None:
    person("ben", apollo, ADMIN)
    secret = create_token(project=apollo, scopes=["admin"]).secret
    url = f"{PEOPLE}ben/{path}"
    assert signed_in(grace).post(url, content_type="application/json").status_code == 403
    bearer = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}
    assert Client().post(url, content_type="application/json", **bearer).status_code == 403  # type: ignore[arg-type]
    assert Client().get(PEOPLE).status_code == 401
    assert User.objects.get(username="ben").is_active


def test_unused_tokens_are_listed(root: Client, grace: User, apollo: Project) -> None:
    create_token(project=apollo, name="fresh")
    AccessToken.unscoped.filter(name="ci").update(created_at="2020-01-01T00:00:00Z")
    listed = root.get("/api/v1/tokens/", {"project": "apollo", "state": "unused"}).json()
    assert [item["name"] for item in listed["items"]] == ["ci"]
