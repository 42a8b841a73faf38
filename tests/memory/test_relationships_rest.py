"""Relationships over REST."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from memory.models import Relationship
from tests.hub import LiveHub, RestClient

REDIS = "Keep answers in Redis, five minutes"


def add(client: RestClient, title: str, content: str = "x") -> int:
    return int(client.post("memories/", {"title": title, "content": content}).body["id"])


def test_a_new_relationship_answers_201_and_the_same_again_200(ada_rest: RestClient) -> None:
    one, other = add(ada_rest, "one"), add(ada_rest, "other")
    body = {"target": other, "relation": "blocks", "strength": 70}
    made = ada_rest.post(f"memories/{one}/relationships/", body)
    assert (made.status, made.body) == (201, {**body, "source": one, "result": "created"})
    again = ada_rest.post(f"memories/{one}/relationships/", {**body, "target": f"memory:{other}"})
    assert (again.status, again.body["result"]) == (200, "unchanged")


def test_get_returns_the_graph_around_a_memory(ada_rest: RestClient) -> None:
    one = add(ada_rest, "Redis cache", REDIS)
    same = add(ada_rest, "Redis cache", REDIS)
    ada_rest.post("decisions/", {"key": "api/auth", "value": "JWT"})
    ada_rest.post(f"memories/{one}/relationships/", {"target": "decision:api/auth"})
    around = ada_rest.get(f"memories/{one}/relationships/?depth=2&threshold=0.9&limit=3").body
    assert around["nodes"] == [
        {"id": one, "title": "Redis cache", "type": "note"},
        {"id": "decision:api/auth", "title": "api/auth", "type": "decision"},
    ]
    assert around["edges"] == [
        {"source": one, "target": "decision:api/auth", "relation": "related", "strength": 50}
    ]
    assert around["suggested"] == [
        {"target": same, "title": "Redis cache", "relation": "includes", "strength": 100, "score": 1.0}
    ]
    assert around["created"] == 0


def test_suggested_relationships_are_created(ada_rest: RestClient, apollo: Project) -> None:
    one = add(ada_rest, "Redis cache", REDIS)
    add(ada_rest, "Redis cache", REDIS)
    made = ada_rest.post(f"memories/{one}/relationships/suggested/", {"threshold": 0.9})
    assert (made.status, made.body["created"], len(made.body["edges"])) == (200, 1, 1)
    assert Relationship.objects.in_project(apollo).count() == 1


def test_a_relationship_is_deleted(ada_rest: RestClient, apollo: Project) -> None:
    one, other = add(ada_rest, "one"), add(ada_rest, "other")
    for relation in ("related", "blocks"):
        ada_rest.post(f"memories/{one}/relationships/", {"target": other, "relation": relation})
    assert ada_rest.delete(f"memories/{one}/relationships/?target={other}&relation=blocks").status == 204
    assert Relationship.objects.in_project(apollo).count() == 1
    assert ada_rest.delete(f"memories/{one}/relationships/?target=memory:{other}").status == 204
    assert not Relationship.objects.in_project(apollo).exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"target": 10**9}, 404),
        ({"target": "decision:none"}, 404),
        ({"target": "none"}, 400),
        ({"target": "SELF"}, 400),
        ({"target": "OTHER", "relation": "likes"}, 400),
        ({"target": "OTHER", "strength": 101}, 400),
    ],
)
def test_an_invalid_body_is_refused(
    ada_rest: RestClient, apollo: Project, body: dict[str, Any], status: int
) -> None:
    one, other = add(ada_rest, "one"), add(ada_rest, "other")
    ids = {"SELF": one, "OTHER": other}
    sent = {name: ids.get(value, value) if name == "target" else value for name, value in body.items()}
    assert ada_rest.post(f"memories/{one}/relationships/", sent).status == status
    assert ada_rest.post("memories/999999999/relationships/", {"target": one}).status == 404
    assert not Relationship.objects.in_project(apollo).exists()


def test_deleting_requires_a_target(ada_rest: RestClient) -> None:
    one = add(ada_rest, "one")
    assert ada_rest.delete(f"memories/{one}/relationships/").status == 400
    assert ada_rest.delete(f"memories/{one}/relationships/?target=999999999").status == 404


def test_scopes_decide_what_a_token_may_do(
    hub: LiveHub, apollo: Project, ada_rest: RestClient, cy_rest: RestClient
) -> None:
    one, other = add(ada_rest, "one"), add(ada_rest, "other")
    reader = hub.rest(create_token(project=apollo, agent="eve", scopes=["read"]).secret, project="apollo")
    writer = hub.rest(create_token(project=apollo, agent="eve", scopes=["write"]).secret, project="apollo")
    path = f"memories/{one}/relationships/"
    assert (reader.get(path).status, writer.get(path).status, cy_rest.get(path).status) == (200, 403, 404)
    assert reader.post(path, {"target": other}).status == 403
    assert reader.post(f"{path}suggested/", {}).status == 403
    assert writer.post(f"{path}suggested/", {}).status == 403
    assert writer.post(path, {"target": other}).status == 201
    assert reader.delete(f"{path}?target={other}").status == 403
    assert writer.delete(f"{path}?target={other}").status == 204
    assert reader.post("memories/capture/", {"content": "x" * 60, "dry_run": True}).status == 200
    assert reader.post("memories/capture/", {"content": "x" * 60}).status == 403


@pytest.mark.every_engine
def test_an_idempotency_key_writes_once(ada_rest: RestClient, apollo: Project) -> None:
    one, other = add(ada_rest, "one"), add(ada_rest, "other")
    for _ in range(2):
        reply = ada_rest.post(
            f"memories/{one}/relationships/", {"target": other}, headers={"Idempotency-Key": "k"}
        )
        assert (reply.status, reply.body["result"]) == (201, "created")
