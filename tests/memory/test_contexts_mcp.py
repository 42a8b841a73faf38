"""Contexts over the MCP wire."""

from typing import Any

import pytest

from ctxhub.core.accounts.services.access_tokens import create_token
from ctxhub.core.models import Project
from tests.hub import LiveHub, McpClient
from tests.tables import dump_project

SAID: dict[str, Any] = {
    "name": "Shop",
    "description": "The shop's backend.",
    "tags": ["api"],
    "stack": "Django",
    "metadata": {"team": "blue"},
}


def create(client: McpClient, **rest: Any) -> int:
    return int(client.call("memory", "context_create", **{"name": "Shop", **rest})["id"])


def names(client: McpClient, **query: Any) -> list[str]:
    return [row["name"] for row in client.rows("memory", "contexts", **query)]


def test_one_agent_creates_it_and_another_reads_it(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    row_id = create(ada_mcp, **SAID)
    whole = ben_mcp.call("memory", "context_get", context="shop")
    times = {name: whole[name] for name in ("created", "updated")}
    assert whole == {"id": row_id, **SAID, "memories": 0, "agent": "ada", **times}
    [row] = ben_mcp.rows("memory", "contexts")
    listed = {name: whole[name] for name in ("id", "name", "memories", "stack", "tags", "updated")}
    assert row == listed
    for name in ("Shop", row_id):
        [opened] = ben_mcp.call("get", refs=[f"context:{name}"])["items"]
        assert opened == {**whole, "ref": f"context:{name}"}


def test_a_context_lives_from_its_creation_to_its_end(ada_mcp: McpClient) -> None:
    row_id = create(ada_mcp)
    changed = ada_mcp.call("memory", "context_update", context=row_id, name="Store", stack="")
    assert changed == {"id": row_id, "name": "Store", "result": "updated"}
    again = ada_mcp.call("memory", "context_update", context="store", name="Store")
    assert again["result"] == "unchanged"
    ada_mcp.call("memory", "add", title="x", content="x", context="STORE")
    gone = ada_mcp.call("memory", "context_delete", context=str(row_id))
    assert gone == {"id": row_id, "name": "Store", "memories": 1, "result": "deleted"}
    assert ada_mcp.call("memory", "list")["count"] == ada_mcp.call("hub", "stats")["memories"] == 0


def test_empty_clears_what_null_leaves(ada_mcp: McpClient) -> None:
    create(ada_mcp, **SAID)
    said: dict[str, Any] = {"description": "", "tags": [], "stack": "", "metadata": {"team": None}}
    kept = ada_mcp.call("memory", "context_update", context="shop", **dict.fromkeys(said))
    assert kept["result"] == "unchanged"
    ada_mcp.call("memory", "context_update", context="shop", **said)
    whole = ada_mcp.call("memory", "context_get", context="shop")
    assert [whole[name] for name in said] == ["", [], "", {}]
    assert whole["name"] == "Shop"


def test_contexts_are_narrowed_and_paged(ada_mcp: McpClient) -> None:
    for n in range(5):
        create(ada_mcp, name=f"c{n}", description=("llamas", "camels")[n % 2])
    assert names(ada_mcp, text="llamas") == ["c4", "c2", "c0"]
    first = ada_mcp.call("memory", "contexts", limit=3)
    assert (first["count"], first["total"]) == (3, 5)
    assert names(ada_mcp, limit=3, cursor=first["next"]) == ["c1", "c0"]


def test_a_digest_names_it(ada_mcp: McpClient) -> None:
    create(ada_mcp, **SAID)
    [item] = ada_mcp.call("get", refs=["context:shop"], detail="digest")["items"]
    assert item == {"ref": "context:shop", "name": "Shop", "description": SAID["description"], "memories": 0}


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("context_create", {}, "name"),
    ("context_create", {"name": 5}, "name"),
    ("context_create", {"name": "5"}, "name"),
    ("context_create", {"name": " "}, "name"),
    ("context_create", {"name": "x", "tags": {"a": 1}}, "tags"),
    ("context_create", {"name": "x", "metadata": [1]}, "metadata"),
    ("context_create", {"name": "x", "stack": ["x"]}, "stack"),
    ("context_create", {"name": "x", "difficulty": "hard"}, "difficulty"),
    ("contexts", {"limit": 0}, "limit"),
    ("contexts", {"cursor": "zzz"}, "cursor"),
    ("contexts", {"text": 5}, "text"),
    ("contexts", {"offset": 5}, "offset"),
    ("context_get", {}, "context"),
    ("context_get", {"context": ""}, "context"),
    ("context_get", {"context": True}, "context"),
    ("context_get", {"context": ["a"]}, "context"),
    ("context_update", {"name": "x"}, "context"),
    ("context_update", {"context": "shop", "name": "7"}, "name"),
    ("context_update", {"context": "shop", "name": ""}, "name"),
    ("context_delete", {}, "context"),
]


@pytest.mark.parametrize(("action", "arguments", "named"), BAD, ids=str)
def test_bad_input_is_named_and_nothing_is_written(
    ada_mcp: McpClient, apollo: Project, action: str, arguments: dict[str, Any], named: str
) -> None:
    create(ada_mcp)
    before = dump_project(apollo)["memory_context"]
    answer = ada_mcp.call("memory", action, **arguments)
    assert answer["error"] == "invalid"
    assert named in answer["message"]
    assert dump_project(apollo)["memory_context"] == before


@pytest.mark.parametrize("action", ["context_get", "context_update", "context_delete"])
@pytest.mark.parametrize("unknown", ["shpo", 999999999, "999999999", "context:999999999", "9" * 40])
def test_an_unknown_one_is_not_found(ada_mcp: McpClient, action: str, unknown: Any) -> None:
    create(ada_mcp)
    answer = ada_mcp.call("memory", action, context=unknown)
    assert answer["error"] == "not_found"
    assert answer.get("did_you_mean") == ("Shop" if unknown == "shpo" else None)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("create_context", "context_create"),
        ("list_contexts", "contexts"),
        ("get_context", "context_get"),
        ("update_context", "context_update"),
        ("delete_context", "context_delete"),
    ],
)
def test_the_words_of_the_source_are_understood(ada_mcp: McpClient, said: str, meant: str) -> None:
    assert ada_mcp.call("memory", said)["did_you_mean"] == meant


@pytest.mark.parametrize("said", ["contextId", "context_id", "context_name"])
def test_the_arguments_of_the_source_are_understood(ada_mcp: McpClient, said: str) -> None:
    assert ada_mcp.call("memory", "context_get", **{said: "x"})["did_you_mean"] == {said: "context"}


def test_another_projects_context_does_not_exist(
    ada_mcp: McpClient, cy_mcp: McpClient, apollo: Project
) -> None:
    row_id = create(ada_mcp)
    before = dump_project(apollo)
    for said in ("Shop", row_id):
        for action in ("context_get", "context_update", "context_delete"):
            assert cy_mcp.call("memory", action, context=said)["error"] == "not_found"
    assert names(cy_mcp) == []
    assert dump_project(apollo) == before


def test_who_may_only_read_writes_nothing(hub: LiveHub, apollo: Project, ada_mcp: McpClient) -> None:
    create(ada_mcp)
    reader = hub.mcp(create_token(project=apollo, agent="eve", scopes=["read"]).secret)
    for action in ("context_create", "context_update", "context_delete"):
        assert reader.call("memory", action, name="x", context="Shop")["error"] == "not_allowed"
    assert names(reader) == ["Shop"]


def test_who_may_write_may_delete(hub: LiveHub, apollo: Project, ben_mcp: McpClient) -> None:
    create(ben_mcp)
    assert ben_mcp.call("memory", "context_delete", context="Shop")["result"] == "deleted"
