"""The tool `search` over the MCP wire."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Agent, Project
from tests.hub import LiveHub, McpClient


@pytest.fixture
def library(ada_mcp: McpClient, ben_mcp: McpClient, cy_mcp: McpClient) -> None:
    decision = {
        "key": "auth/sessions",
        "value": "Sessions expire after thirty minutes.",
        "tags": ["security"],
    }
    ada_mcp.call("decision", "set", **decision)
    ben_mcp.call("message", "send", text="Who renews the sessions of the tests?", to=["eve"])
    cy_mcp.call("decision", "set", key="travel/zeppelin", value="Sessions take place in a zeppelin.")


with_library = pytest.mark.usefixtures("library")


@with_library
def test_one_agent_writes_and_another_finds_it(ben_mcp: McpClient) -> None:
    answer = ben_mcp.call("search", query="When do sessions expire?", least=0)
    assert answer["columns"] == ["ref", "title", "excerpt", "score", "tokens"]
    [first, _] = answer["rows"]
    assert first[:3] == ["decision:auth/sessions", "auth/sessions", "Sessions expire after thirty minutes."]
    assert {name: answer[name] for name in ("count", "total", "method")} == {
        "count": 2,
        "total": 2,
        "method": "any",
    }
    assert answer["total_tokens"] == sum(row[4] for row in answer["rows"])


@with_library
def test_a_hit_is_opened_by_its_ref(ben_mcp: McpClient) -> None:
    refs = [row["ref"] for row in ben_mcp.rows("search", query="sessions")]
    opened = ben_mcp.call("get", refs=refs)
    assert [item["ref"] for item in opened["items"]] == refs
    assert opened["missing"] == []


@with_library
@pytest.mark.parametrize("kinds", ["message", '["message"]', ["messages"]])
def test_a_list_may_be_a_text_or_json(ada_mcp: McpClient, kinds: Any) -> None:
    [row] = ada_mcp.rows("search", query="sessions", kinds=kinds)
    assert row["ref"].startswith("message:")


@with_library
def test_filters_are_applied(ada_mcp: McpClient) -> None:
    filters = {"tags": ["security"], "by": "ada", "since": "1h", "match": "all", "detail": "ids", "limit": 1}
    [row] = ada_mcp.rows("search", query="sessions minutes", kinds=["decision"], **filters)
    assert (row["ref"], set(row)) == ("decision:auth/sessions", {"ref", "score", "tokens"})
    assert ada_mcp.rows("search", query="sessions minutes", by="ben", match="all") == []


@with_library
def test_rows_may_be_objects(ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("search", query="minutes", format="objects")
    assert [item["ref"] for item in answer["items"]] == ["decision:auth/sessions"]


@with_library
def test_a_typo_is_corrected_and_reported(ada_mcp: McpClient) -> None:
    answer = ada_mcp.call("search", query="when do sesions expire")
    assert (answer["did_you_mean"], answer["method"]) == ("when do sessions expire", "corrected")


@with_library
def test_another_project_finds_only_its_own_rows(cy_mcp: McpClient) -> None:
    assert [row["ref"] for row in cy_mcp.rows("search", query="sessions")] == ["decision:travel/zeppelin"]
    assert "did_you_mean" not in cy_mcp.call("search", query="expird")


@with_library
def test_a_reader_may_search_and_is_registered_as_agent(hub: LiveHub, apollo: Project) -> None:
    reader = hub.mcp(create_token(project=apollo, scopes=["read"]).secret)
    assert reader.call("search", query="sessions", agent="eve")["total"] == 2
    assert Agent.objects.in_project(apollo).filter(name="eve").exists()


def test_a_write_only_token_may_not_search(hub: LiveHub, apollo: Project) -> None:
    writer = hub.mcp(create_token(project=apollo, scopes=["write"]).secret)
    assert writer.call("search", query="sessions")["error"] == "not_allowed"
    assert "search" not in [tool["name"] for tool in writer.tools()]


@with_library
def test_urgent_mail_is_counted_beside_the_hits(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    ben_mcp.call("message", "send", text="Stop.", to=["ada"], priority="critical")
    assert ada_mcp.call("search", query="sessions")["mail"] == 1


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        ({}, {"missing": ["query"]}),
        ({"query": "x", "text": "y"}, {"allowed": None}),
        ({"query": "x", "labels": "y"}, {"did_you_mean": {"labels": "tags"}}),
        ({"query": "x", "types": "y"}, {"did_you_mean": {"types": "kinds"}}),
        ({"query": "x", "cursor": "y"}, {"allowed": None}),
        ({"query": 5}, {}),
        ({"query": ["x"]}, {}),
        ({"query": "x", "limit": "many"}, {}),
        ({"query": "x", "match": "some"}, {"allowed": ["auto", "any", "all", "fuzzy", "similar"]}),
        ({"query": "x", "detail": "compct"}, {"did_you_mean": "compact"}),
        ({"query": "x", "max_tokens": 0}, {}),
        ({"query": "x", "action": "find"}, {}),
        ({"query": "log\x00in"}, {}),
    ],
    ids=str,
)
def test_the_error_of_a_wrong_call_names_what_is_right(
    ada_mcp: McpClient, arguments: dict[str, Any], body: dict[str, Any]
) -> None:
    answer = ada_mcp.call("search", **arguments)
    assert answer["error"] == "invalid"
    for name, value in body.items():
        assert answer[name] == (value or answer[name])


def test_the_tool_is_read_only_and_describes_its_options(ada_mcp: McpClient) -> None:
    [tool] = [tool for tool in ada_mcp.tools() if tool["name"] == "search"]
    assert tool["annotations"]["readOnlyHint"] is True
    assert tool["inputSchema"]["required"] == ["query"]
    for words in ("auto|any|all|fuzzy|similar", "compact|ids|standard|detailed", "decision"):
        assert words in tool["description"]
