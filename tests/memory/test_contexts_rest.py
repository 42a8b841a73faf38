"""Contexts over REST."""

from typing import Any
from urllib.parse import quote

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Membership, Project
from tests.hub import LiveHub, Reply, RestClient
from tests.signed_in import sign_in
from tests.tables import dump_project

ALL_FIELDS: dict[str, Any] = {
    "name": "Shop",
    "description": "The shop's backend.",
    "tags": ["api"],
    "stack": "Django",
    "metadata": {"team": "blue"},
}


def create(client: RestClient, **rest: Any) -> Reply:
    return client.post("contexts/", {"name": "Shop", **rest})


def test_post_answers_201_with_the_whole_context(ada_rest: RestClient) -> None:
    created = create(ada_rest, **ALL_FIELDS)
    assert created.status == 201
    for name in ("shop", created.body["id"]):
        stored = ada_rest.get(f"contexts/{name}/")
        assert created.body == {**stored.body, "result": "created"}
    assert {name: created.body[name] for name in ALL_FIELDS} == ALL_FIELDS
    assert (created.body["memories"], created.body["agent"]) == (0, "ada")


def test_a_name_in_use_answers_409(ada_rest: RestClient) -> None:
    created = create(ada_rest).body
    again = create(ada_rest, name="SHOP")
    assert (again.status, again.body["current"]) == (409, {"id": created["id"], "name": "Shop"})


@pytest.mark.parametrize("name", ["a/b", "a b", "c++", "中文", "search", "100%", "x?y#z", "a.b"])
def test_names_with_special_characters_work_in_urls(ada_rest: RestClient, name: str) -> None:
    create(ada_rest, name=name)
    assert ada_rest.get(f"contexts/{quote(name, safe='')}/").body["name"] == name


def test_a_patch_changes_only_the_fields_sent(ada_rest: RestClient) -> None:
    create(ada_rest, **ALL_FIELDS)
    changed = ada_rest.patch("contexts/shop/", {"name": "Store", "stack": None, "metadata": {"team": None}})
    assert (changed.status, changed.body["result"]) == (200, "updated")
    stored = ada_rest.get("contexts/store/").body
    assert changed.body == {**stored, "result": "updated"}
    assert (stored["stack"], stored["metadata"], stored["description"]) == ("", {}, ALL_FIELDS["description"])
    assert ada_rest.patch("contexts/store/", {"name": "Store"}).body["result"] == "unchanged"


def test_deleting_a_context_deletes_its_memories(ben_rest: RestClient) -> None:
    create(ben_rest)
    ben_rest.post("memories/", {"title": "x", "content": "x", "context": "shop"})
    assert ben_rest.delete("contexts/shop/").status == 204
    assert ben_rest.get("contexts/shop/").status == 404
    assert ben_rest.get("memories/").body["items"] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "5"},
        {"name": " "},
        {"name": "x" * 201},
        {"stack": "x" * 101},
    ],
    ids=lambda body: str(body)[:60],
)
def test_a_bad_body_is_invalid(ada_rest: RestClient, apollo: Project, body: dict[str, Any]) -> None:
    sent = {"name": "shop", **body} if body else {}
    reply = ada_rest.post("contexts/", sent)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert dump_project(apollo)["memory_context"] == []


@pytest.mark.parametrize("query", [{"limit": 0}, {"cursor": "zzz"}], ids=str)
def test_a_bad_query_is_invalid(ada_rest: RestClient, query: dict[str, Any]) -> None:
    reply = ada_rest.get("contexts/", **query)
    assert (reply.status, reply.body["error"]) == (400, "invalid")


def test_an_unknown_context_answers_404(ada_rest: RestClient) -> None:
    path = "contexts/none/"
    replies = [ada_rest.get(path), ada_rest.patch(path, {"stack": "x"}), ada_rest.delete(path)]
    assert [(reply.status, reply.body["error"]) for reply in replies] == [(404, "not_found")] * 3


def test_another_projects_context_answers_404(
    ada_rest: RestClient, cy_rest: RestClient, apollo: Project
) -> None:
    create(ada_rest)
    before = dump_project(apollo)
    path = "contexts/shop/"
    replies = [cy_rest.get(path), cy_rest.patch(path, {"stack": "x"}), cy_rest.delete(path)]
    assert [reply.status for reply in replies] == [404] * 3
    assert dump_project(apollo) == before


def test_a_write_only_token_gets_only_the_result_of_its_own_writes(hub: LiveHub, apollo: Project) -> None:
    writer = hub.rest(create_token(project=apollo, agent="ci", scopes=["write"]).secret)
    created = create(writer).body
    assert created == {"id": created["id"], "name": "Shop", "result": "created"}
    assert writer.get("contexts/").status == 403


@pytest.mark.parametrize(
    ("role", "status"), [(Membership.Role.VIEWER, 403), (Membership.Role.MEMBER, 201)], ids=str
)
def test_the_role_of_a_person_decides_whether_they_may_write(
    hub: LiveHub, apollo: Project, role: Membership.Role, status: int
) -> None:
    assert create(sign_in(hub, "vi", apollo, role)).status == status


@pytest.mark.every_engine
def test_an_idempotency_key_writes_once(ada_rest: RestClient) -> None:
    headers = {"Idempotency-Key": "k-1"}
    first, again = (ada_rest.post("contexts/", {"name": "Shop"}, headers) for _ in range(2))
    assert (first.status, first.body) == (again.status, again.body)
