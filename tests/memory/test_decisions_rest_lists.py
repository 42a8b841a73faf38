"""Lists of decisions over REST: filters, pages, max_tokens and the number of queries."""

from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
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
        ({"status": "3"}, ["three"]),
        ({"layer": ""}, ["two", "one"]),
        ({"tags": "api,db", "match": "AND"}, ["one"]),
        ({"text": ""}, ["two", "one"]),
        ({"since": "1h"}, ["two", "one"]),
        ({"since": "2099-01-01"}, []),
        ({"until": "1h"}, []),
        ({"sort": "key", "order": "asc"}, ["one", "two"]),
        ({"sort": "version", "status": "any", "limit": 1}, ["four"]),
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


def test_a_list_by_key_is_full_and_accepts_include(filled: None, ada_rest: RestClient) -> None:
    [item] = ada_rest.get("decisions/", key="three", include="history,links").body["items"]
    assert (item["value"], item["rationale"], len(item["history"])) == ("x" * 300, "", 1)
    assert item["supersedes"] == []


# -- Pages -----------------------------------------------------------------------------------------


@pytest.fixture
def seven_keys(hub: LiveHub, ada: Caller) -> list[str]:
    for number in range(7):
        set_decision(caller=ada, key=f"k{number}", value=number, tags=["api"])
    return [f"k{number}" for number in reversed(range(7))]


def test_the_link_header_leads_through_all_pages(seven_keys: list[str], ada_rest: RestClient) -> None:
    reply = ada_rest.get("decisions/", limit=3, tags=["api", "a b"])
    found = [item["key"] for item in reply.body["items"]]
    while link := reply.headers.get("link"):
        address = link.removeprefix("<").partition(">")[0]
        reply = ada_rest.get(address.partition(f":{ada_rest.port}")[2])
        found += [item["key"] for item in reply.body["items"]]
    assert found == seven_keys


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
