"""Lists of decisions over REST: filters, pages, max_tokens and the number of queries."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from memory.decisions.services import set_decision
from tests.hub import LiveHub, RestClient

pytestmark = pytest.mark.one_engine


@pytest.fixture
def filled(hub: LiveHub, ada: Caller, ben: Caller) -> None:
    """Four decisions that differ in every field that lists filter by; `four` is the newest."""
    set_decision(caller=ada, key="one", value=1, layer="data", tags=["api", "db"], scopes=["api/users"])
    set_decision(caller=ben, key="two", value="2", layer="business", tags=["api"], scopes=["api/orders"])
    set_decision(caller=ada, key="three", value="x" * 300, tags=["db"], scopes=["db"], status="draft")
    set_decision(caller=ben, key="four", value=4.5, version="10.0", status="deprecated", tags=["Api"])


def keys(client: RestClient, **query: Any) -> list[str]:
    reply = client.get("decisions/", **query)
    assert reply.status == 200, reply
    return [item["key"] for item in reply.body["items"]]


# -- Filters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["two", "one"]),
        ({"status": "any"}, ["four", "three", "two", "one"]),
        ({"status": "draft"}, ["three"]),
        ({"status": "DEPRECATED"}, ["four"]),
        ({"status": "3"}, ["three"]),
        ({"layer": "Business"}, ["two"]),
        ({"layer": ""}, ["two", "one"]),
        ({"tags": "api"}, ["two", "one"]),
        ({"tags": "api,db", "status": "any"}, ["four", "three", "two", "one"]),
        ({"tags": ["api", "db"], "match": "all"}, ["one"]),
        ({"tags": "api,db", "match": "AND"}, ["one"]),
        ({"tags": "nothing"}, []),
        ({"exclude_tags": ["db", "nothing"]}, ["two"]),
        ({"scope": "api/users"}, ["one"]),
        ({"by": "Ada", "status": "any"}, ["three", "one"]),
        ({"by": "nobody"}, []),
        ({"text": "data"}, []),
        ({"text": "2"}, ["two"]),
        ({"text": "api user"}, ["one"]),
        ({"text": ""}, ["two", "one"]),
        ({"text": "api", "status": "any", "sort": "key", "order": "asc"}, ["four", "one", "two"]),
        ({"since": "1h"}, ["two", "one"]),
        ({"since": "2099-01-01"}, []),
        ({"until": "1h"}, []),
        ({"until": "2099-01-01T00:00:00Z"}, ["two", "one"]),
        ({"sort": "key", "order": "asc"}, ["one", "two"]),
        ({"sort": "key"}, ["two", "one"]),
        ({"sort": "version", "status": "any", "limit": 1}, ["four"]),
        ({"order": "asc"}, ["one", "two"]),
        ({"key": "three"}, ["three"]),
        ({"key": "three", "status": "active"}, []),
        ({"key": "nothing"}, []),
        ({"tags": "api", "layer": "data", "by": "ada", "scope": "api/*", "since": "7d"}, ["one"]),
    ],
    ids=str,
)
def test_each_filter_finds_what_it_names(
    filled: None, ada_rest: RestClient, query: dict[str, Any], expected: list[str]
) -> None:
    assert keys(ada_rest, **query) == expected


def test_since_an_event_lists_later_changes(filled: None, ada_rest: RestClient, apollo: Project) -> None:
    first = Event.objects.in_project(apollo).earliest("pk")
    assert keys(ada_rest, since=f"e{first.pk}", status="any") == ["four", "three", "two"]


def test_an_item_has_the_fields_of_a_decision(filled: None, ada_rest: RestClient) -> None:
    [item] = ada_rest.get("decisions/", layer="data").body["items"]
    assert item.items() >= {"key": "one", "value": 1, "version": "1.0.0", "status": "active"}.items()
    assert (item["layer"], item["tags"], item["scopes"]) == ("data", ["api", "db"], ["api/users"])
    assert (item["paths"], item["agent"], item["updated"][-1]) == ([], "ada", "Z")
    assert "rationale" not in item


def test_values_are_cut_unless_full(filled: None, ada_rest: RestClient) -> None:
    [cut] = ada_rest.get("decisions/", status="draft").body["items"]
    [full] = ada_rest.get("decisions/", status="draft", full="true").body["items"]
    assert (cut["value"], full["value"]) == ("x" * 200 + "…", "x" * 300)


def test_a_list_by_key_is_full_and_accepts_include(filled: None, ada_rest: RestClient) -> None:
    [item] = ada_rest.get("decisions/", key="three", include="history,links").body["items"]
    assert (item["value"], item["rationale"], len(item["history"])) == ("x" * 300, "", 1)
    assert item["supersedes"] == []


@pytest.mark.parametrize(
    "query",
    [
        {"status": "gone"},
        {"layer": "nowhere"},
        {"match": "some"},
        {"tags": ["x" * 101]},
        {"tags": ",".join(map(str, range(51)))},
        {"scope": "x" * 201},
        {"since": "yesterday"},
        {"until": "e"},
        {"sort": "value"},
        {"order": "up"},
        {"limit": ""},
        {"limit": 0},
        {"limit": 201},
        {"limit": [1, 2]},
        {"limit": "1" * 5_000},
        {"cursor": "e12"},
        {"cursor": "WyJ1cGRhdGVkIiwieCIsMV0"},
        {"cursor": "WyJ1cGRhdGVkIiwiMDAwMS0wMS0wMVQwMDowMDowMCsxNDowMCIsMV0"},
        {"full": ""},
        {"max_tokens": 0},
        {"max_tokens": "many"},
        {"include": "links"},
        {"format": "rows"},
    ],
    ids=lambda query: str(query)[:40],
)
def test_a_bad_query_is_invalid(filled: None, ada_rest: RestClient, query: dict[str, Any]) -> None:
    reply = ada_rest.get("decisions/", **query)
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert next(iter(query)) in reply.body["message"]


def test_an_unknown_parameter_is_refused_with_the_nearest_name(ada_rest: RestClient) -> None:
    for wrong, expected in (
        ("decided_by", "by"),
        ("updated_after", "since"),
        ("lmit", "limit"),
    ):
        assert ada_rest.get("decisions/", **{wrong: "x"}).body["did_you_mean"] == {wrong: expected}


# -- Pages -----------------------------------------------------------------------------------------


@pytest.fixture
def seven_keys(hub: LiveHub, ada: Caller) -> list[str]:
    for number in range(7):
        set_decision(caller=ada, key=f"k{number}", value=number, tags=["api"])
    return [f"k{number}" for number in reversed(range(7))]


@pytest.mark.parametrize("query", [{"sort": "key"}, {"tags": "api"}, {"sort": "version"}], ids=str)
def test_pages_return_every_decision_once(
    seven_keys: list[str], ada_rest: RestClient, query: dict[str, str]
) -> None:
    found, cursor = [], ""
    while cursor is not None:
        page = ada_rest.get("decisions/", limit=3, cursor=cursor, **query).body
        assert (page["count"], page["total"]) == (len(page["items"]), 7)
        found += [item["key"] for item in page["items"]]
        cursor = page["next"]
    assert found == seven_keys


def test_the_link_header_leads_through_all_pages(seven_keys: list[str], ada_rest: RestClient) -> None:
    reply = ada_rest.get("decisions/", limit=3, tags=["api", "a b"])
    found = [item["key"] for item in reply.body["items"]]
    while link := reply.headers.get("link"):
        address = link.removeprefix("<").partition(">")[0]
        reply = ada_rest.get(address.partition(f":{ada_rest.port}")[2])
        found += [item["key"] for item in reply.body["items"]]
    assert found == seven_keys


def test_a_cursor_of_another_order_is_refused(seven_keys: list[str], ada_rest: RestClient) -> None:
    cursor = ada_rest.get("decisions/", limit=3, sort="key").body["next"]
    assert ada_rest.get("decisions/", cursor=cursor).status == 400


def test_max_tokens_cuts_the_page_and_the_cursor_continues(
    seven_keys: list[str], ada_rest: RestClient
) -> None:
    full = ada_rest.get("decisions/").body
    first = ada_rest.get("decisions/", max_tokens=200).body
    assert 0 < first["count"] < full["count"]
    assert first["omitted"] == full["count"] - first["count"]
    rest = ada_rest.get("decisions/", cursor=first["next"]).body
    assert [*first["items"], *rest["items"]] == full["items"]


def test_max_tokens_too_small_for_one_item_still_returns_one(
    seven_keys: list[str], ada_rest: RestClient
) -> None:
    found: list[str] = []
    cursor: dict[str, str] = {}
    for omitted in range(6, -1, -1):
        page = ada_rest.get("decisions/", max_tokens=1, **cursor).body
        assert (page["count"], page.get("omitted", 0), "truncated" in page) == (1, omitted, False)
        found += [item["key"] for item in page["items"]]
        cursor = {"cursor": page["next"]}
    assert (sorted(found), page["next"]) == (sorted(seven_keys), None)


def test_a_page_is_cut_by_size_without_max_tokens(hub: LiveHub, ada: Caller, ada_rest: RestClient) -> None:
    for number in range(4):
        set_decision(caller=ada, key=f"k{number}", value="word " * 12_000)
    page = ada_rest.get("decisions/", full="1").body
    assert (page["count"], page["omitted"]) == (1, 3)
    assert ada_rest.get("decisions/", full="1", cursor=page["next"]).body["count"] == 1


# -- Queries ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [{}, {"tags": "api"}, {"layer": "data"}, {"sort": "key"}], ids=str)
def test_queries_do_not_grow_with_rows(ada: Caller, apollo: Project, query: dict[str, str]) -> None:
    client = APIClient(headers={"Authorization": f"Bearer {create_token(project=apollo).secret}"})

    def count_queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert client.get("/api/v1/projects/apollo/decisions/", query).status_code == 200
        return len(queries)

    def fill(first: int, last: int) -> None:
        for number in range(first, last):
            set_decision(caller=ada, key=f"k{number}", value=1, layer="data", tags=["api"], scopes=["s"])

    fill(0, 2)
    count_queries()
    few = count_queries()
    fill(2, 15)
    assert count_queries() == few <= 3
