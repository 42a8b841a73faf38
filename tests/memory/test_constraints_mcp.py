"""Constraints over MCP."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from tests.hub import LiveHub, McpClient
from tests.tables import dump_project

TEXT = "Every address of the API asks for a token."
ALL_FIELDS: dict[str, Any] = {
    "category": "security",
    "text": TEXT,
    "priority": "critical",
    "layer": "business",
    "tags": ["api"],
    "scopes": ["api/auth"],
    "paths": ["src/api/**"],
    "reason": "It is public.",
}


def add(client: McpClient, **rest: Any) -> int:
    return int(client.call("constraint", "add", **{"category": "security", "text": TEXT, **rest})["id"])


def texts(client: McpClient, **query: Any) -> list[str]:
    return [row["text"] for row in client.rows("constraint", "list", **query)]


def test_one_agent_adds_a_constraint_and_another_reads_it(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    row_id = add(ada_mcp, **ALL_FIELDS)
    [row] = ben_mcp.rows("constraint", "list")
    paths = ALL_FIELDS["paths"]
    listed = {name: value for name, value in ALL_FIELDS.items() if name != "paths"}
    assert row == {**listed, "id": row_id, "status": "active", "agent": "ada", "at": row["at"]}
    [opened] = ben_mcp.call("get", refs=[f"constraint:{row_id}"])["items"]
    assert opened == {**row, "ref": f"constraint:{row_id}", "paths": paths}


def test_a_constraint_is_added_deactivated_and_activated(ada_mcp: McpClient) -> None:
    row_id = add(ada_mcp)
    assert ada_mcp.call("constraint", "add", category="Security", text=TEXT) == {
        "id": row_id,
        "result": "exists",
    }
    ended = ada_mcp.call("constraint", "deactivate", id=row_id, reason="It is not public any more.")
    assert ended == {"id": row_id, "status": "inactive", "result": "updated"}
    assert ada_mcp.call("constraint", "deactivate", id=row_id)["result"] == "unchanged"
    assert texts(ada_mcp) == []
    revived = ada_mcp.call("constraint", "activate", id=row_id)
    assert revived == {"id": row_id, "status": "active", "result": "updated"}
    assert texts(ada_mcp) == [TEXT]


def test_an_id_may_come_as_text_or_as_a_ref(ada_mcp: McpClient) -> None:
    row_id = add(ada_mcp)
    assert ada_mcp.call("constraint", "deactivate", id=f" {row_id} ")["id"] == row_id


def test_a_missing_action_is_inferred_from_the_arguments(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("constraint", category="security", text=TEXT)["result"] == "created"
    assert ada_mcp.call("constraint")["count"] == 1
    assert ada_mcp.call("constraint", text=TEXT)["missing"] == ["category"]


def test_lists_may_come_as_json_or_as_one_word(ada_mcp: McpClient) -> None:
    add(ada_mcp, tags='["api", "db"]', scopes="src")
    assert texts(ada_mcp, tags="api") == texts(ada_mcp, tags='["db"]', scope="src") == [TEXT]


def test_texts_are_never_parsed(ada_mcp: McpClient) -> None:
    add(ada_mcp, text='["a"]', reason='{"b": 1}')
    [row] = ada_mcp.rows("constraint", "list")
    assert (row["text"], row["reason"]) == ('["a"]', '{"b": 1}')


# -- Lists -----------------------------------------------------------------------------------------


@pytest.fixture
def filled(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    """Four constraints that differ in every field that lists filter by."""
    add(ada_mcp, text="one", priority="critical", layer="data", tags=["api", "db"], scopes=["api/users"])
    add(ben_mcp, text="two", priority="low", tags=["api"], scopes=["api/orders"])
    add(ada_mcp, text="three", category="Cost", tags=["db"], scopes=["db"], reason="y" * 300)
    row_id = add(ben_mcp, text="four", category="performance", priority="high", layer="business")
    ben_mcp.call("constraint", "deactivate", id=row_id)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["one", "three", "two"]),
        ({"priority": 4}, ["one"]),
        ({"tags": ["api", "db"], "match": "all"}, ["one"]),
        ({"tags": ["api", "db"], "match": "OR"}, ["one", "three", "two"]),
        ({"status": "inactive"}, ["four"]),
        ({"status": "any", "by": "ben"}, ["four", "two"]),
    ],
    ids=str,
)
def test_each_filter_finds_what_it_names(
    filled: None, ada_mcp: McpClient, query: dict[str, Any], expected: list[str]
) -> None:
    assert texts(ada_mcp, **query) == expected


def test_texts_are_cut_unless_full(filled: None, ada_mcp: McpClient) -> None:
    [cut] = ada_mcp.rows("constraint", "list", category="cost")
    [full] = ada_mcp.rows("constraint", "list", category="cost", full=True)
    assert (cut["reason"], full["reason"]) == ("y" * 200 + "…", "y" * 300)


# -- Bad input -------------------------------------------------------------------------------------

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("add", {"category": "security", "text": " "}, "text"),
    ("add", {"category": "security", "text": "x", "priority": "urgent"}, "priority"),
    ("add", {"category": "security", "text": "x", "layer": "nowhere"}, "layer"),
    ("add", {"category": "security", "text": "x", "paths": ["../x"]}, "paths"),
    ("list", {"status": "odd"}, "status"),
    ("list", {"priority": "odd"}, "priority"),
    ("list", {"layer": "odd"}, "layer"),
    ("list", {"match": "odd"}, "match"),
    ("list", {"limit": 0}, "limit"),
    ("list", {"limit": 10**30}, "limit"),
    ("list", {"cursor": "zzz"}, "cursor"),
    ("activate", {"id": "constraint:"}, "id"),
    ("activate", {"id": 1, "reason": "x"}, "reason"),
]


@pytest.mark.parametrize(("action", "arguments", "named"), BAD, ids=str)
def test_an_error_names_the_bad_argument_and_nothing_is_written(
    ada_mcp: McpClient, apollo: Project, action: str, arguments: dict[str, Any], named: str
) -> None:
    before = dump_project(apollo)["memory_constraint"]
    answer = ada_mcp.call("constraint", action, **arguments)
    assert answer["error"] == "invalid"
    assert named in answer["message"]
    assert dump_project(apollo)["memory_constraint"] == before


@pytest.mark.parametrize("unknown", [-1, 2**63])
def test_an_unknown_id_is_not_found(ada_mcp: McpClient, unknown: Any) -> None:
    for action in ("deactivate", "activate"):
        answer = ada_mcp.call("constraint", action, id=unknown)
        assert answer["error"] == "not_found"
        assert answer["hint"]


@pytest.mark.parametrize(
    ("action", "suggestion"),
    [("add_constraint", "add"), ("get_constraints", "list"), ("deactivate_constraint", "deactivate")],
)
def test_did_you_mean_translates_action_names_of_the_source(
    ada_mcp: McpClient, action: str, suggestion: str
) -> None:
    assert ada_mcp.call("constraint", action)["did_you_mean"] == suggestion


@pytest.mark.parametrize(
    ("action", "name", "suggestion"),
    [
        ("add", "constraint_text", "text"),
        ("list", "active_only", "status"),
    ],
)
def test_did_you_mean_translates_argument_names_of_the_source(
    ada_mcp: McpClient, action: str, name: str, suggestion: str
) -> None:
    assert ada_mcp.call("constraint", action, **{name: "x"})["did_you_mean"] == {name: suggestion}


# -- Permissions -----------------------------------------------------------------------------------


def test_an_agent_named_in_the_call_is_the_author(hub: LiveHub, apollo: Project) -> None:
    client = hub.mcp(create_token(project=apollo, name="ci").secret)
    add(client, agent="zoe")
    assert [row["agent"] for row in client.rows("constraint", "list")] == ["zoe"]
    assert texts(client, by="zoe") == [TEXT]


def test_filtering_by_an_agent_does_not_register_it(ada_mcp: McpClient) -> None:
    texts(ada_mcp, by="nobody")
    assert [row["name"] for row in ada_mcp.rows("hub", "agents")] == ["ada"]


def test_a_repeated_request_is_written_once(ada_mcp: McpClient) -> None:
    meta = {"ctxhub/request_id": "r-1"}
    arguments = {"action": "add", "category": "security", "text": TEXT}
    first, again = (ada_mcp.result("constraint", arguments, meta)["content"] for _ in range(2))
    assert first == again
    assert ada_mcp.call("hub", "stats")["constraints"] == [1, 1]
