"""Decisions over MCP."""

import json
from typing import Any

import pytest

from ctxhub.core.models import Project
from memory.models import Decision
from tests.hub import McpClient, RestClient

KEY = "api/auth/method"


# -- Actions ---------------------------------------------------------------------------------------


def test_a_decision_is_created_updated_deprecated_and_deleted(ada_mcp: McpClient, apollo: Project) -> None:
    first = ada_mcp.call("decision", "set", key=KEY, value="JWT", layer="business", tags=["api"])
    assert first == {"key": KEY, "id": first["id"], "version": "1.0.0", "result": "created"}
    assert Decision.objects.in_project(apollo).get(pk=first["id"]).value == "JWT"
    second = ada_mcp.call("decision", "set", key=KEY, value="OIDC", expected_version="1.0.0")
    assert (second["version"], second["result"]) == ("1.0.1", "updated")
    conflict = ada_mcp.call("decision", "set", key=KEY, value="SAML", expected_version="1.0.0")
    assert (conflict["error"], conflict["current"]) == ("conflict", {"version": "1.0.1", "value": "OIDC"})
    assert [row["value"] for row in ada_mcp.rows("decision", "versions", key=KEY)] == ["OIDC", "JWT"]
    ended = ada_mcp.call("decision", "deprecate", key=KEY, reason="Sessions need revocation.")
    assert (ended["status"], ended["result"]) == ("deprecated", "updated")
    ref = f"decision:{KEY}"
    assert ada_mcp.rows("delete", refs=[ref]) == [{"ref": ref, "result": "deleted"}]
    assert ada_mcp.call("delete", refs=[ref])["error"] == "not_found"


def test_quick_set_answers_what_it_inferred_from_the_key(ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("decision", "quick_set", key="db/user-table", value="users")
    assert answer["inferred"] == {"layer": "data", "tags": ["db", "user", "table"], "scope": "db"}


def test_a_mistyped_key_is_answered_with_similar_keys(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key=KEY, value="JWT")
    assert ada_mcp.call("decision", "get", key="api/auth/metod") == {"found": False, "similar": [KEY]}


def test_help_shows_every_action_with_an_example_that_works(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key="api/auth/sessions", value="Cookies")
    for name, entry in ada_mcp.call("decision", "help")["actions"].items():
        assert "error" not in ada_mcp.call("decision", **entry["example"]), name


# -- Argument forms --------------------------------------------------------------------------------


def test_a_missing_action_is_inferred_from_the_arguments(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("decision", key=KEY, value="JWT")["result"] == "created"
    assert ada_mcp.call("decision", key=KEY)["found"] is True
    assert ada_mcp.call("decision")["count"] == 1
    assert ada_mcp.call("decision", tags=["nothing"])["count"] == 0


@pytest.mark.parametrize(
    ("arguments", "stored"),
    [
        ({"scopes": '["src/api"]', "paths": "src/**"}, {"scopes": ["src/api"], "paths": ["src/**"]}),
        ({"metadata": '{"ticket":{"id":5}}'}, {"metadata": {"ticket": {"id": 5}}}),
        ({"status": 3}, {"status": "draft"}),
        ({"version": 2.5}, {"version": "2.5"}),
        ({"version": 2}, {"version": "2"}),
        ({"layer": "Data"}, {"layer": "data"}),
        ({"layer": ""}, {"layer": None}),
        ({"tags": []}, {"tags": []}),
    ],
)
def test_arguments_are_converted_to_their_types(ada_mcp: McpClient, arguments: Any, stored: Any) -> None:
    ada_mcp.call("decision", "set", key=KEY, value="x", **arguments)
    shown = ada_mcp.call("decision", "get", key=KEY)["decision"]
    assert {name: shown[name] for name in stored} == stored


def test_items_and_their_lists_may_be_json_strings(ada_mcp: McpClient) -> None:
    items = json.dumps([{"key": "a", "value": 1, "tags": '["x"]'}, {"key": "b", "value": "two"}])
    assert ada_mcp.call("decision", "set_batch", items=items)["done"] == 2
    assert [row["key"] for row in ada_mcp.rows("decision", "list", tags="x")] == ["a"]


@pytest.mark.parametrize(
    "value",
    [
        *('["a"]', '{"a":1}', "null", "5", "true", "True", " ", "", "line\r\nline\t", "日本語 👩‍👧 \u202e"),
        *(5, -5, 0, 5.5, -1.0, 1e-9, 9007199254740993, 10**20, 10**299),
    ],
)
def test_a_value_comes_back_as_it_was_sent(ada_mcp: McpClient, ada_rest: RestClient, value: Any) -> None:
    ada_mcp.call("decision", "set", key=KEY, value=value)
    ada_rest.post("decisions/", {"key": "other", "value": value})
    for shown in (
        ada_mcp.call("decision", "get", key="other")["decision"]["value"],
        ada_rest.get(f"decisions/{KEY}/").body["value"],
    ):
        assert (shown, type(shown)) == (value, type(value))


def test_keys_are_stripped_and_normalised_in_every_call(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key="cafe\u0301", value="x")
    for key in ("café", " cafe\u0301 "):
        assert ada_mcp.call("decision", "get", key=key)["decision"]["key"] == "café"
    assert ada_mcp.call("get", refs=["decision:cafe\u0301"])["missing"] == []


ALL_FIELDS: dict[str, Any] = {
    "rationale": "Why.",
    "tags": ["a"],
    "scopes": ["s"],
    "paths": ["p"],
    "layer": "data",
    "alternatives": ["b"],
    "tradeoffs": {"pros": ["x"], "cons": ["y"]},
    "metadata": {"a": 1},
}


def fields_of(client: McpClient) -> dict[str, Any]:
    decision = client.call("decision", "get", key=KEY, include=["rationale"])["decision"]
    return {name: decision.get(name) for name in ALL_FIELDS}


def test_an_empty_value_clears_a_field(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key=KEY, value="x", **ALL_FIELDS)
    empty = {name: type(value)() for name, value in ALL_FIELDS.items()}
    ada_mcp.call("decision", "set", key=KEY, value="y", **{**empty, "metadata": {"a": None}})
    assert fields_of(ada_mcp) == {**empty, "layer": None, "metadata": None}


@pytest.mark.parametrize(
    ("tradeoffs", "expected"),
    [
        ({"pros": None}, {"cons": ["y"]}),
        ({"pros": None, "cons": ["z"]}, {"cons": ["z"]}),
        ({"pros": None, "cons": None}, {}),
        ({"pros": ["z"]}, {"pros": ["z"]}),
    ],
    ids=str,
)
def test_null_in_the_tradeoffs_removes_one_side(
    ada_mcp: McpClient, tradeoffs: dict[str, Any], expected: dict[str, Any]
) -> None:
    ada_mcp.call("decision", "set", key=KEY, value="x", **ALL_FIELDS)
    ada_mcp.call("decision", "set", key=KEY, value="x", tradeoffs=tradeoffs)
    assert fields_of(ada_mcp) == {**ALL_FIELDS, "tradeoffs": expected}


def test_only_an_empty_text_clears_the_successor(ada_mcp: McpClient) -> None:
    for key in (KEY, "heir"):
        ada_mcp.call("decision", "set", key=key, value="x")
    arguments = {"reason": "Old.", "superseded_by": "heir"}
    ada_mcp.call("decision", "deprecate", key=KEY, **arguments)
    unchanged = ada_mcp.call("decision", "deprecate", key=KEY, **dict.fromkeys(arguments))
    assert (unchanged["result"], unchanged["superseded_by"]) == ("unchanged", "heir")
    cleared = ada_mcp.call("decision", "deprecate", key=KEY, superseded_by="", reason="")
    assert (cleared["result"], cleared["superseded_by"]) == ("updated", None)


def test_an_empty_filter_is_no_filter(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key=KEY, value="x")
    names = ("layer", "scope", "by", "since", "until", "cursor", "format", "agent")
    assert ada_mcp.call("decision", "list", **dict.fromkeys(names, ""))["count"] == 1


def test_keys_tags_and_scopes_of_the_greatest_length_are_accepted(ada_mcp: McpClient) -> None:
    key, name = "键" * 200, "é" * 100
    ada_mcp.call("decision", "set", key=key, value="x" * 65_536, tags=[name], scopes=[name], version="9" * 50)
    assert ada_mcp.call("decision", "list", tags=[name], scope=name)["rows"][0][0] == key


# -- Batches ---------------------------------------------------------------------------------------


def test_an_item_must_not_name_an_agent(ada_mcp: McpClient) -> None:
    item = {"key": "a", "value": 1, "agent": "ben"}
    refused = ada_mcp.call("decision", "set_batch", items=[item])
    assert "no argument 'agent'" in refused["message"]
    assert "agent" not in refused["allowed"]


def test_a_batch_lists_allowed_arguments_only_once(ada_mcp: McpClient) -> None:
    items = [{"key": f"k{n}", "value": 1, "colour": "red"} for n in range(50)]
    answer = ada_mcp.call("decision", "set_batch", items=items, atomic=False)
    assert [("allowed" in result) for result in answer["results"]] == [True] + [False] * 49


# -- Paged versions --------------------------------------------------------------------------------


def test_versions_are_paged(ada_mcp: McpClient) -> None:
    for n in range(5):
        ada_mcp.call("decision", "set", key=KEY, value=n)
    first = ada_mcp.call("decision", "versions", key=KEY, limit=3)
    rest = ada_mcp.call("decision", "versions", key=KEY, cursor=first["next"])
    assert [row[1] for row in [*first["rows"], *rest["rows"]]] == [4, 3, 2, 1, 0]
    assert "next" not in rest
    assert ada_mcp.call("decision", "versions", key=KEY, limit=0)["error"] == "invalid"


def test_versions_cut_by_max_tokens_have_a_cursor(ada_mcp: McpClient) -> None:
    for n in range(5):
        ada_mcp.call("decision", "set", key=KEY, value=f"value {n} " * 20)
    first = ada_mcp.call("decision", "versions", key=KEY, max_tokens=200)
    rest = ada_mcp.call("decision", "versions", key=KEY, cursor=first["next"])
    assert first["omitted"] == 5 - first["count"] == rest["count"]


def test_an_unknown_status_filter_lists_any_among_the_allowed(ada_mcp: McpClient) -> None:
    assert "any" in ada_mcp.call("decision", "list", status="x")["allowed"]
