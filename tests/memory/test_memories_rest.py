"""Memories over REST."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Membership, Project
from memory.memories.services import add_memory
from tests.hub import LiveHub, Reply, RestClient
from tests.signed_in import sign_in
from tests.tables import dump_project

TITLE = "Caching the product list"
CONTENT = "Keep it in Redis for five minutes. Without it the page takes two seconds."
ALL_FIELDS: dict[str, Any] = {
    "title": TITLE,
    "content": CONTENT,
    "context": "Shop",
    "type": "reference",
    "stack": "Django",
    "difficulty": "hard",
    "tags": ["caching", "shop"],
    "paths": ["shop/views/*.py"],
    "metadata": {"seen": 1},
}


def add(client: RestClient, **rest: Any) -> Reply:
    return client.post("memories/", {"title": TITLE, "content": CONTENT, **rest})


def titles(client: RestClient, path: str = "memories/", **query: Any) -> list[str]:
    reply = client.get(path, **query)
    assert reply.status == 200, reply
    return [item["title"] for item in reply.body["items"]]


# -- One memory ------------------------------------------------------------------------------------


def test_a_new_memory_answers_201_with_all_fields(ada_rest: RestClient) -> None:
    made = add(ada_rest, **ALL_FIELDS)
    assert made.status == 201
    one = ada_rest.get(f"memories/{made.body['id']}/")
    assert made.body == {**one.body, "context_created": True}
    assert {name: one.body[name] for name in ALL_FIELDS} == ALL_FIELDS
    assert (one.body["digest"], one.body["agent"]) == ("Keep it in Redis for five minutes.", "ada")


def test_a_duplicate_is_stored_and_named_as_similar(ada_rest: RestClient) -> None:
    first = add(ada_rest).body["id"]
    again = add(ada_rest)
    assert (again.status, again.body["similar"]) == (201, [{"id": first, "title": TITLE, "score": 1.0}])
    assert again.body["id"] != first


def test_null_is_the_same_as_absent(ada_rest: RestClient) -> None:
    empty = dict.fromkeys(("stack", "difficulty", "tags", "paths", "metadata"))
    made = add(ada_rest, **empty)
    assert made.status == 201
    assert [made.body[name] for name in empty] == ["", None, [], [], {}]
    assert (made.body["context"], made.body["type"]) == ("general", "note")


def test_a_context_may_come_as_its_id(ada_rest: RestClient) -> None:
    row_id = ada_rest.post("contexts/", {"name": "Shop"}).body["id"]
    assert add(ada_rest, context=row_id).body["context"] == "Shop"
    assert add(ada_rest, context=str(row_id)).body["context"] == "Shop"
    assert add(ada_rest, context=999).status == 404


def test_a_patch_changes_only_its_fields(ada_rest: RestClient) -> None:
    path = f"memories/{add(ada_rest, **ALL_FIELDS).body['id']}/"
    body = {"content": "Do not. It is slow.", "type": 5, "difficulty": None, "metadata": {"a": 1}}
    changed = ada_rest.patch(path, body)
    assert (changed.status, changed.body["result"]) == (200, "updated")
    one = ada_rest.get(path).body
    assert changed.body == {**one, "result": "updated"}
    after = ("Do not.", "task", None, {"seen": 1, "a": 1}, TITLE, "Django", ["caching", "shop"])
    names = ("digest", "type", "difficulty", "metadata", "title", "stack", "tags")
    assert tuple(one[name] for name in names) == after
    assert ada_rest.patch(path, {"type": "TASK", "stack": "Django"}).body["result"] == "unchanged"


def test_a_patch_clears_and_moves(ada_rest: RestClient) -> None:
    path = f"memories/{add(ada_rest, **ALL_FIELDS).body['id']}/"
    ada_rest.post("contexts/", {"name": "Zoo"})
    changed = ada_rest.patch(
        path, {"context": "zoo", "stack": "", "tags": [], "paths": None, "metadata": None}
    )
    names = ("context", "stack", "tags", "paths", "metadata")
    assert [changed.body[name] for name in names] == ["Zoo", "", [], [], {}]
    assert ada_rest.patch(path, {"context": "none"}).status == 404


def test_a_deleted_memory_is_gone(ben_rest: RestClient) -> None:
    path = f"memories/{add(ben_rest).body['id']}/"
    assert ben_rest.delete(path).status == 204
    assert [ben_rest.get(path).status, ben_rest.delete(path).status] == [404, 404]


def test_a_call_runs_the_action_of_the_tool(ada_rest: RestClient) -> None:
    made = ada_rest.post("call/memory/add/", {"title": TITLE, "content": CONTENT}).body
    assert set(made) == {"id", "digest", "tokens", "context_created"}
    assert ada_rest.post("call/memory/get/", {"id": made["id"]}).body["title"] == TITLE
    assert ada_rest.post("call/memory/search/", {"query": "redis"}).body["total"] == 1
    [gone] = ada_rest.post("call/delete/", {"refs": [f"memory:{made['id']}"]}).body["rows"]
    assert gone == [f"memory:{made['id']}", "deleted"]


# -- Lists -----------------------------------------------------------------------------------------


@pytest.fixture
def filled(hub: LiveHub, ada: Caller) -> None:
    """Four memories that differ in every filter."""
    memories: list[dict[str, Any]] = [
        {"title": "one", "type": "idea", "stack": "Django", "difficulty": "hard", "tags": ["a", "b"]},
        {"title": "two", "tags": ["a"]},
        {"title": "three", "context": "zoo", "type": 6, "stack": "rust", "difficulty": 1, "tags": ["b"]},
        {"title": "four", "content": "Llamas spit.", "context": "zoo"},
    ]
    for fields in memories:
        add_memory(caller=ada, **{"content": CONTENT, "context": "shop", **fields})


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["four", "three", "two", "one"]),
    ({"context": ""}, ["four", "three", "two", "one"]),
    ({"type": "6"}, ["three", "one"]),
    ({"tags": "a,none"}, ["two", "one"]),
    ({"tags": ["a", "b"]}, ["three", "two", "one"]),
    ({"context": "zoo", "type": "idea", "stack": "RUST", "difficulty": "1", "tags": "b"}, ["three"]),
]


@pytest.mark.parametrize(("query", "expected"), FILTERS, ids=str)
def test_each_filter_narrows_the_list(
    filled: None, ada_rest: RestClient, query: dict[str, Any], expected: list[str]
) -> None:
    assert titles(ada_rest, **query) == expected


def test_lists_hold_no_contents(filled: None, ada_rest: RestClient) -> None:
    assert CONTENT not in str(ada_rest.get("memories/").body)


# -- Searches --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["one", "three", "two"]),
        ({"context": "shop", "detail": "standard"}, ["one", "two"]),
        ({"type": "idea"}, ["one", "three"]),
        ({"stack": "DJANGO"}, ["one"]),
        ({"tags": "a"}, ["one", "two"]),
    ],
    ids=str,
)
def test_each_filter_narrows_the_search(
    filled: None, ada_rest: RestClient, query: dict[str, Any], expected: list[str]
) -> None:
    assert sorted(titles(ada_rest, "memories/search/", query="kept in redis?", **query)) == expected


def test_a_search_reports_its_tokens(filled: None, ada_rest: RestClient) -> None:
    body = ada_rest.get("memories/search/", query="rediss", limit=1).body
    [item] = body["items"]
    names = ("id", "title", "excerpt", "type", "context", "stack", "score", "tokens")
    assert tuple(item) == (*names, "lines", "size", "stale")
    assert (body["count"], body["total"], body["next"]) == (1, 3, None)
    assert (body["total_tokens"], body["did_you_mean"]) == (item["tokens"], "redis")
    assert set(body["meta"]) == {"search_method", "excerpt_strategy"}


def test_fuzzy_search_finds_mistyped_words(filled: None, ada_rest: RestClient) -> None:
    [item] = ada_rest.get("memories/fuzzy/", query="lamas", context="zoo").body["items"]
    assert (item["title"], item["distance"], item["score"]) == ("four", 1, 0.8)
    for filters in ({"tolerance": 0}, {"context": "shop"}, {"type": "idea"}):
        assert titles(ada_rest, "memories/fuzzy/", query="lamas", **filters) == []


@pytest.mark.parametrize("path", ["memories/search/", "memories/fuzzy/"])
def test_a_search_requires_a_query(ada_rest: RestClient, path: str) -> None:
    reply = ada_rest.get(path)
    assert (reply.status, reply.body["missing"]) == (400, ["query"])
    assert ada_rest.get(path, query="x", context="none").status == 404
    assert ada_rest.get(path, query="x", max_tokens=50).status == 200


# -- Bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"title": " "},
        {"title": "x" * 501},
        {"content": ""},
        {"content": "x" * 1_048_577},
        {"context": ""},
        {"type": "poem"},
        {"difficulty": "odd"},
        {"paths": ["/etc/passwd"]},
    ],
    ids=lambda body: str(body)[:60],
)
def test_a_bad_body_is_invalid(ada_rest: RestClient, apollo: Project, body: dict[str, Any]) -> None:
    sent = {"title": TITLE, "content": CONTENT, **body} if body else {}
    reply = ada_rest.post("memories/", sent)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert dump_project(apollo)["memory_memory"] == []


@pytest.mark.parametrize(
    "body",
    [{"title": ""}, {"content": ""}, {"type": ""}, {"context": ""}],
    ids=str,
)
def test_a_bad_change_is_invalid(ada_rest: RestClient, body: dict[str, Any]) -> None:
    path = f"memories/{add(ada_rest).body['id']}/"
    before = ada_rest.get(path).body
    reply = ada_rest.patch(path, body)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert ada_rest.get(path).body == before


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("memories/", {"type": "poem"}),
        ("memories/", {"difficulty": "odd"}),
        ("memories/", {"limit": 0}),
        ("memories/", {"cursor": "zzz"}),
        ("memories/search/", {"query": "x", "detail": "ids"}),
        ("memories/search/", {"query": "x", "limit": 201}),
        ("memories/search/", {"query": "x", "cursor": "x"}),
        ("memories/fuzzy/", {"query": "x", "tolerance": 11}),
        ("memories/fuzzy/", {"query": "x", "tolerance": "-1"}),
        ("memories/fuzzy/", {"query": "x", "stack": "x"}),
    ],
    ids=str,
)
def test_a_bad_query_is_invalid(ada_rest: RestClient, path: str, query: dict[str, Any]) -> None:
    reply = ada_rest.get(path, **query)
    assert (reply.status, reply.body["error"]) == (400, "invalid")


# -- Rights and requests ---------------------------------------------------------------------------


def test_another_projects_memory_is_not_found_by_a_search(ada_rest: RestClient, cy_rest: RestClient) -> None:
    add(ada_rest)
    assert titles(cy_rest, "memories/search/", query="redis") == []


def test_a_write_only_token_gets_short_answers(hub: LiveHub, apollo: Project) -> None:
    writer = hub.rest(create_token(project=apollo, agent="ci", scopes=["write"]).secret)
    assert set(add(writer).body) == {"id", "digest", "tokens", "context_created"}
    made = add(writer).body
    assert set(made) == {"id", "digest", "tokens"}
    assert set(writer.patch(f"memories/{made['id']}/", {"title": "x"}).body) == {
        *("id", "result", "tokens", "revision")
    }
    assert writer.get("memories/").status == writer.get("memories/search/", query="x").status == 403
    assert writer.delete(f"memories/{made['id']}/").status == 204


@pytest.mark.parametrize(
    ("role", "status"), [(Membership.Role.VIEWER, 403), (Membership.Role.MEMBER, 201)], ids=str
)
def test_the_role_decides_who_may_write(
    hub: LiveHub, apollo: Project, role: Membership.Role, status: int
) -> None:
    assert add(sign_in(hub, "vi", apollo, role)).status == status


@pytest.mark.every_engine
def test_an_idempotency_key_writes_once(ada_rest: RestClient) -> None:
    headers = {"Idempotency-Key": "k-1"}
    body = {"title": TITLE, "content": CONTENT}
    first, again = (ada_rest.post("memories/", body, headers) for _ in range(2))
    assert first.body == again.body
    assert ada_rest.get("stats/").body["memories"] == 1


def test_an_unsupported_if_match_is_refused(ada_rest: RestClient) -> None:
    path = f"memories/{add(ada_rest).body['id']}/"
    assert ada_rest.patch(path, {"title": "x"}, {"If-Match": '"1"'}).status == 400


@pytest.mark.parametrize(
    "path", ["memories/", "contexts/", "memories/search/?query=known", "memories/fuzzy/?query=knwon"]
)
def test_the_number_of_queries_does_not_grow_with_the_rows(ada: Caller, path: str) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {create_token(project=ada.project, agent='ada').secret}")

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            separator = "&" if "?" in path else "?"
            address = f"/api/v1/projects/apollo/{path}{separator}limit=200"
            assert client.get(address).status_code == 200
        return len(queries)

    count()
    for n in range(3):
        add_memory(caller=ada, title=f"known {n}", content="x", context=f"c{n}", tags=[f"t{n}"])
    few = count()
    for n in range(3, 40):
        add_memory(caller=ada, title=f"known {n}", content="x", context=f"c{n}", tags=[f"t{n}"])
    assert count() == few
