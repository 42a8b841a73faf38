"""Contexts over MCP and REST: what they have beside what all nouns do."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.hub import McpClient, RestClient

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
    assert row == {name: shown[name] for name in ("id", "name", "memories", "stack", "tags", "updated")}
    for name in ("Shop", row_id):
        [opened] = ben_mcp.call("get", refs=[f"context:{name}"])["items"]
        assert opened == {**shown, "ref": f"context:{name}"}


def test_a_context_is_created_updated_and_deleted(ada_mcp: McpClient) -> None:
    row_id = create(ada_mcp)
    changed = ada_mcp.call("memory", "context_update", context=row_id, name="Store", stack="")
    assert changed == {"id": row_id, "name": "Store", "result": "updated"}
    ada_mcp.call("memory", "add", title="x", content="x", context="STORE")
    deleted = ada_mcp.rows("delete", refs=[f"context:{row_id}"])
    assert deleted == [{"ref": f"context:{row_id}", "result": "deleted", "note": "with 1 memory"}]
    assert ada_mcp.call("memory", "list")["count"] == ada_mcp.call("hub", "stats")["memories"] == 0


def test_get_shows_a_digest_of_a_context(ada_mcp: McpClient) -> None:
    create(ada_mcp, **ALL_FIELDS)
    [item] = ada_mcp.call("get", refs=["context:shop"], detail="digest")["items"]
    shown = {name: ALL_FIELDS[name] for name in ("name", "description")}
    assert item == {"ref": "context:shop", **shown, "memories": 0}


@pytest.mark.parametrize("action", ["context_get", "context_update"])
@pytest.mark.parametrize("unknown", ["shpo", "context:999999999"])
def test_an_unknown_context_is_not_found(ada_mcp: McpClient, action: str, unknown: Any) -> None:
    create(ada_mcp)
    answer = ada_mcp.call("memory", action, context=unknown)
    assert answer["error"] == "not_found"
    assert answer.get("did_you_mean") == ("Shop" if unknown == "shpo" else None)
    deleted = ada_mcp.call("delete", refs=[f"context:{unknown.removeprefix('context:')}"])
    assert {**deleted, "message": ""} == {**answer, "message": ""}


def test_a_name_in_use_answers_409(ada_rest: RestClient) -> None:
    created = ada_rest.post("contexts/", {"name": "Shop"}).body
    again = ada_rest.post("contexts/", {"name": "SHOP"})
    assert (again.status, again.body["current"]) == (409, {"id": created["id"], "name": "Shop"})


@pytest.mark.parametrize("name", ["a/b", "a b", "c++", "中文", "search", "100%", "x?y#z", "a.b"])
def test_names_with_special_characters_work_in_urls(ada_rest: RestClient, name: str) -> None:
    ada_rest.post("contexts/", {"name": name})
    assert ada_rest.get(f"contexts/{quote(name, safe='')}/").body["name"] == name


def test_deleting_a_context_deletes_its_memories(ben_rest: RestClient) -> None:
    ben_rest.post("memories/", {"title": "x", "content": "x", "context": "shop"})
    assert ben_rest.delete("contexts/shop/").status == 204
    assert ben_rest.get("memories/").body["items"] == []
