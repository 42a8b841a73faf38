"""Contexts over MCP."""

from typing import Any

import pytest

from ctxhub.core.models import Project
from tests.hub import McpClient
from tests.tables import dump_project

ALL_FIELDS: dict[str, Any] = {
    "name": "Shop",
    "description": "The shop's backend.",
    "tags": ["api"],
    "stack": "Django",
    "metadata": {"team": "blue"},
}


def create(client: McpClient, **rest: Any) -> int:
    return int(client.call("memory", "context_create", **{"name": "Shop", **rest})["id"])


def test_one_agent_creates_a_context_and_another_reads_it(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    row_id = create(ada_mcp, **ALL_FIELDS)
    shown = ben_mcp.call("memory", "context_get", context="shop")
    times = {name: shown[name] for name in ("created", "updated")}
    assert shown == {"id": row_id, **ALL_FIELDS, "memories": 0, "agent": "ada", **times}
    [row] = ben_mcp.rows("memory", "contexts")
    listed = {name: shown[name] for name in ("id", "name", "memories", "stack", "tags", "updated")}
    assert row == listed
    for name in ("Shop", row_id):
        [opened] = ben_mcp.call("get", refs=[f"context:{name}"])["items"]
        assert opened == {**shown, "ref": f"context:{name}"}


def test_a_context_is_created_updated_and_deleted(ada_mcp: McpClient) -> None:
    row_id = create(ada_mcp)
    changed = ada_mcp.call("memory", "context_update", context=row_id, name="Store", stack="")
    assert changed == {"id": row_id, "name": "Store", "result": "updated"}
    again = ada_mcp.call("memory", "context_update", context="store", name="Store")
    assert again["result"] == "unchanged"
    ada_mcp.call("memory", "add", title="x", content="x", context="STORE")
    deleted = ada_mcp.rows("delete", refs=[f"context:{row_id}"])
    assert deleted == [{"ref": f"context:{row_id}", "result": "deleted", "note": "with 1 memory"}]
    assert ada_mcp.call("memory", "list")["count"] == ada_mcp.call("hub", "stats")["memories"] == 0


def test_null_leaves_a_field_and_an_empty_value_clears_it(ada_mcp: McpClient) -> None:
    create(ada_mcp, **ALL_FIELDS)
    empty: dict[str, Any] = {"description": "", "tags": [], "stack": "", "metadata": {"team": None}}
    answer = ada_mcp.call("memory", "context_update", context="shop", **dict.fromkeys(empty))
    assert answer["result"] == "unchanged"
    ada_mcp.call("memory", "context_update", context="shop", **empty)
    shown = ada_mcp.call("memory", "context_get", context="shop")
    assert [shown[name] for name in empty] == ["", [], "", {}]
    assert shown["name"] == "Shop"


def test_get_shows_a_digest_of_a_context(ada_mcp: McpClient) -> None:
    create(ada_mcp, **ALL_FIELDS)
    [item] = ada_mcp.call("get", refs=["context:shop"], detail="digest")["items"]
    assert item == {
        "ref": "context:shop",
        "name": "Shop",
        "description": ALL_FIELDS["description"],
        "memories": 0,
    }


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("context_create", {"name": "5"}, "name"),
    ("context_create", {"name": " "}, "name"),
    ("context_create", {"name": "x", "difficulty": "hard"}, "difficulty"),
    ("contexts", {"limit": 0}, "limit"),
    ("contexts", {"cursor": "zzz"}, "cursor"),
    ("context_get", {"context": ""}, "context"),
    ("context_update", {"context": "shop", "name": "7"}, "name"),
    ("context_update", {"context": "shop", "name": ""}, "name"),
]


@pytest.mark.parametrize(("action", "arguments", "named"), BAD, ids=str)
def test_an_error_names_the_bad_argument_and_nothing_is_written(
    ada_mcp: McpClient, apollo: Project, action: str, arguments: dict[str, Any], named: str
) -> None:
    create(ada_mcp)
    before = dump_project(apollo)["memory_context"]
    answer = ada_mcp.call("memory", action, **arguments)
    assert answer["error"] == "invalid"
    assert named in answer["message"]
    assert dump_project(apollo)["memory_context"] == before


@pytest.mark.parametrize("action", ["context_get", "context_update"])
@pytest.mark.parametrize("unknown", ["shpo", "context:999999999"])
def test_an_unknown_context_is_not_found(ada_mcp: McpClient, action: str, unknown: Any) -> None:
    create(ada_mcp)
    answer = ada_mcp.call("memory", action, context=unknown)
    assert answer["error"] == "not_found"
    assert answer.get("did_you_mean") == ("Shop" if unknown == "shpo" else None)
    deleted = ada_mcp.call("delete", refs=[f"context:{unknown.removeprefix('context:')}"])
    assert {**deleted, "message": ""} == {**answer, "message": ""}


@pytest.mark.parametrize(
    ("action", "suggestion"),
    [
        ("create_context", "context_create"),
        ("list_contexts", "contexts"),
        ("get_context", "context_get"),
        ("update_context", "context_update"),
        ("delete_context", "delete"),
    ],
)
def test_did_you_mean_translates_action_names_of_the_source(
    ada_mcp: McpClient, action: str, suggestion: str
) -> None:
    assert ada_mcp.call("memory", action)["did_you_mean"] == suggestion


@pytest.mark.parametrize("name", ["contextId", "context_id", "context_name"])
def test_did_you_mean_translates_argument_names_of_the_source(ada_mcp: McpClient, name: str) -> None:
    assert ada_mcp.call("memory", "context_get", **{name: "x"})["did_you_mean"] == {name: "context"}
