"""Search over REST: GET with a query string, POST with a body."""

from collections.abc import Callable
from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Agent, Project
from tests.hub import LiveHub, Reply, RestClient

Search = Callable[..., Reply]


@pytest.fixture
def library(ada_rest: RestClient, ben_rest: RestClient, cy_rest: RestClient) -> None:
    decision = {
        "key": "auth/sessions",
        "value": "Sessions expire after thirty minutes.",
        "tags": ["security"],
    }
    ada_rest.post("decisions/", decision)
    ben_rest.post("messages/", {"text": "Who renews the sessions of the tests?", "to": ["eve"]})
    cy_rest.post("decisions/", {"key": "travel/zeppelin", "value": "Sessions take place in a zeppelin."})


with_library = pytest.mark.usefixtures("library")


@pytest.fixture(params=["GET", "POST"])
def search(request: Any, ada_rest: RestClient) -> Search:
    """Searches by either method."""
    return search_by(ada_rest, request.param)


def search_by(client: RestClient, method: str) -> Search:
    def send(**query: Any) -> Reply:
        return client.get("search/", **query) if method == "GET" else client.post("search/", query)

    return send


@with_library
def test_a_search_returns_items(search: Search) -> None:
    reply = search(query="When do sessions expire?")
    assert reply.status == 200
    first, second = reply.body["items"]
    assert first == {
        "ref": "decision:auth/sessions",
        "title": "auth/sessions",
        "excerpt": "Sessions expire after thirty minutes.",
        "score": first["score"],
        "tokens": first["tokens"],
        "lines": None,
        "size": None,
        "more": None,
        "stale": None,
    }
    assert 0 < second["score"] < first["score"] <= 1
    costs = first["tokens"] + second["tokens"]
    assert {**reply.body, "items": []} == {
        "items": [],
        "next": None,
        "count": 2,
        "total": 2,
        "total_tokens": costs,
        "avg_tokens": round(costs / 2),
        "method": "any",
    }


@with_library
@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"kinds": ["decision"]}, 1),
        ({"kinds": ["decisions", "message"]}, 2),
        ({"tags": ["security", "nothing"]}, 1),
        ({"layer": "data"}, 0),
        ({"by": "ben"}, 1),
        ({"since": "1h"}, 2),
        ({"since": "2099-01-01"}, 0),
        ({"match": "all"}, 2),
        ({"limit": 1}, 1),
    ],
    ids=str,
)
def test_each_filter_narrows(search: Search, filters: dict[str, Any], count: int) -> None:
    reply = search(query="sessions", **filters)
    assert (reply.status, reply.body["count"], len(reply.body["items"])) == (200, count, count)


@with_library
@pytest.mark.parametrize("kinds", ["decision,message", ["decision", "message"], ["decision,message"]])
def test_a_list_in_the_query_string_is_repeated_or_has_commas(ada_rest: RestClient, kinds: Any) -> None:
    assert ada_rest.get("search/", query="sessions", kinds=kinds).body["count"] == 2


@with_library
def test_ids_come_without_title_and_excerpt(search: Search) -> None:
    [item] = search(query="minutes", detail="ids").body["items"]
    assert (item["ref"], item["title"], item["excerpt"]) == ("decision:auth/sessions", None, None)


@with_library
def test_a_typo_is_corrected_and_reported(search: Search) -> None:
    body = search(query="when do sesions expire").body
    assert (body["did_you_mean"], body["method"]) == ("when do sessions expire", "corrected")


@with_library
def test_a_budget_is_kept(search: Search) -> None:
    body = search(query="sessions", max_tokens=100).body
    assert (body["count"], body["omitted"], body["total"]) == (1, 1, 2)


@with_library
def test_nulls_in_a_body_are_no_filters(ada_rest: RestClient) -> None:
    nulls = dict.fromkeys(("kinds", "tags", "layer", "context", "by", "since"))
    assert ada_rest.post("search/", {"query": "sessions", **nulls}).body["count"] == 2


@pytest.mark.parametrize("method", ["GET", "POST"])
@with_library
def test_a_reader_may_search_and_is_registered_as_agent(hub: LiveHub, apollo: Project, method: str) -> None:
    reader = hub.rest(create_token(project=apollo, scopes=["read"]).secret)
    assert search_by(reader, method)(query="sessions", agent="eve").body["count"] == 2
    assert Agent.objects.in_project(apollo).filter(name="eve").exists()
    writer = hub.rest(create_token(project=apollo, scopes=["write"]).secret)
    assert search_by(writer, method)(query="sessions").status == 403


@pytest.mark.parametrize("method", ["GET", "POST"])
@with_library
def test_another_project_finds_only_its_own_rows(cy_rest: RestClient, method: str) -> None:
    search_as_cy = search_by(cy_rest, method)
    assert [item["ref"] for item in search_as_cy(query="sessions").body["items"]] == [
        "decision:travel/zeppelin"
    ]
    assert "did_you_mean" not in search_as_cy(query="expird").body
    elsewhere = cy_rest.send("GET", "/api/v1/projects/apollo/search/?query=sessions")
    assert elsewhere.status == 404


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": ""},
        {"query": " "},
        {"query": "log\x00in"},
        {"query": "x", "text": "y"},
        {"query": "x", "kinds": ["tag"]},
        {"query": "x", "match": "some"},
        {"query": "x", "detail": "long"},
        {"query": "x", "layer": "cellar"},
        {"query": "x", "since": "yesterday"},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 201},
        {"query": "x", "max_tokens": 0},
        {"query": "x", "cursor": "y"},
    ],
    ids=str,
)
def test_wrong_arguments_are_invalid(search: Search, arguments: dict[str, Any]) -> None:
    reply = search(**arguments)
    assert (reply.status, reply.body["error"]) == (400, "invalid")


@pytest.mark.parametrize(
    "body",
    [
        {"query": 5},
        {"query": None},
        {"query": ["x"]},
        {"query": "x", "kinds": 5},
        {"query": "x", "kinds": [1]},
        {"query": "x", "limit": "5"},
        {"query": "x", "limit": 2.5},
        {"query": "x", "limit": True},
        {"query": "x", "match": 1},
        {"query": "x", "max_tokens": "many"},
        {"query": "x" * 100_000},
        ["x"],
    ],
    ids=lambda body: str(body)[:40],
)
def test_a_wrong_body_is_invalid(ada_rest: RestClient, body: Any) -> None:
    reply = ada_rest.post("search/", body)
    assert (reply.status, reply.body["error"]) == (400, "invalid")


def test_an_unknown_context_is_not_found(search: Search) -> None:
    assert search(query="x", context="cellar").status == 404
