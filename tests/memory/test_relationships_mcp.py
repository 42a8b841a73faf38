"""Relationships, similarity and captures over the MCP wire."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from memory.models import Relationship
from tests.hub import LiveHub, McpClient
from tests.tables import dump_project

REDIS = "Keep answers in Redis, five minutes"
DECIDED = (
    "We decided to keep the sessions in PostgreSQL 16, not in Redis. The module `sessions/store.py` needs one"
    " transaction for both, and the team runs a PostgreSQL server anyway."
)


def add(client: McpClient, title: str, content: str = "x", **rest: Any) -> int:
    return int(client.call("memory", "add", title=title, content=content, **rest)["id"])


def test_one_agent_relates_and_another_reads_the_graph(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    one, other = add(ada_mcp, "one"), add(ada_mcp, "other", type="idea")
    ada_mcp.call("decision", "set", key="api/auth", value="JWT")
    answer = ada_mcp.call(
        "memory", "relate", source=str(one), target="decision:api/auth", relation="DEPENDS_ON"
    )
    assert answer == {
        "source": one,
        "target": "decision:api/auth",
        "relation": "depends_on",
        "strength": 50,
        "result": "created",
    }
    ada_mcp.call("memory", "relate", source="decision:api/auth", target=other, strength=90)
    around = ben_mcp.call("memory", "relationships", id=one, depth=2)
    assert around == {
        "nodes": {
            "columns": ["id", "title", "type"],
            "rows": [
                [one, "one", "note"],
                ["decision:api/auth", "api/auth", "decision"],
                [other, "other", "idea"],
            ],
            "count": 3,
        },
        "edges": {
            "columns": ["source", "target", "relation", "strength"],
            "rows": [
                [one, "decision:api/auth", "depends_on", 50],
                ["decision:api/auth", other, "related", 90],
            ],
            "count": 2,
        },
        "created": 0,
    }
    assert ben_mcp.call("memory", "unrelate", source=one, target="decision:api/auth") == {"deleted": 1}


def test_suggested_relationships_are_created_once(ada_mcp: McpClient, apollo: Project) -> None:
    one = add(ada_mcp, "Redis cache", REDIS)
    other = add(ada_mcp, "Redis queue", "Keep answers in Redis, five hours")
    made = ada_mcp.call("memory", "relationships", id=f"memory:{one}", create=True)
    assert made["suggested"]["rows"] == [[other, "Redis queue", "references", 57, 0.57]]
    assert (made["created"], made["edges"]["rows"]) == (1, [[one, other, "references", 57]])
    again = ada_mcp.call("memory", "relationships", id=one, create=True)
    assert (again["created"], "suggested" in again) == (0, False)
    assert Relationship.objects.in_project(apollo).count() == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"action": "relate", "source": "decision:k", "target": "decision:k"}, "invalid"),
        ({"action": "relate", "source": "decision:k", "target": 10**9}, "not_found"),
        ({"action": "relationships", "id": 10**9}, "not_found"),
        ({"action": "relationships", "id": "decision:k", "depth": 6}, "invalid"),
        ({"action": "similar"}, "invalid"),
        ({"action": "similar", "id": 10**9}, "not_found"),
        ({"action": "capture", "content": " "}, "invalid"),
        ({"action": "suggest_context", "text": ""}, "invalid"),
    ],
)
def test_a_wrong_call_writes_nothing(
    ada_mcp: McpClient, apollo: Project, arguments: dict[str, Any], code: str
) -> None:
    ada_mcp.call("decision", "set", key="k", value="v")
    before = dump_project(apollo)
    result = ada_mcp.result("memory", arguments)
    assert result["isError"]
    assert code in result["content"][0]["text"]
    assert dump_project(apollo) == before


def test_a_read_only_token_may_read_and_run_dry_runs_only(
    hub: LiveHub, apollo: Project, ada_mcp: McpClient
) -> None:
    one = add(ada_mcp, "Redis cache", REDIS)
    add(ada_mcp, "Redis cache", REDIS)
    reader = hub.mcp(create_token(project=apollo, agent="eve", scopes=["read"]).secret)
    assert reader.call("memory", "relationships", id=one)["suggested"]["count"] == 1
    assert reader.call("memory", "capture", content=DECIDED, dry_run=True)["confidence"] > 0.8
    for arguments in (
        {"action": "relationships", "id": one, "create": True},
        {"action": "relate", "source": one, "target": one + 1},
        {"action": "capture", "content": DECIDED},
    ):
        assert "not_allowed" in reader.result("memory", arguments)["content"][0]["text"]


def test_a_text_is_captured_over_the_wire(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    ada_mcp.call(
        "memory", "context_create", name="Sessions", description="PostgreSQL, Redis, transactions, store"
    )
    suggested = ada_mcp.call("memory", "suggest_context", text=DECIDED)
    assert suggested["existing"]["context"] == "Sessions"
    saved = ada_mcp.call("memory", "capture", content=DECIDED)
    assert saved["saved"]
    assert ben_mcp.call("memory", "get", id=saved["id"])["context"] == "Sessions"
    assert ben_mcp.call("memory", "capture", content=DECIDED)["duplicate_of"] == f"memory:{saved['id']}"
    assert ben_mcp.rows("memory", "similar", text=DECIDED)[0]["id"] == saved["id"]


def test_similar_can_return_objects(ada_mcp: McpClient) -> None:
    one, same = add(ada_mcp, "Redis cache", REDIS), add(ada_mcp, "Redis cache", REDIS)
    answer = ada_mcp.call("memory", "similar", id=one, format="objects")
    assert answer == {"items": [{"id": same, "title": "Redis cache", "score": 1.0}], "count": 1}


def test_an_event_names_a_relationship_that_can_be_opened(ada_mcp: McpClient, cy_mcp: McpClient) -> None:
    ids = [ada_mcp.call("memory", "add", title=title, content="It is so.")["id"] for title in ("a", "b")]
    ada_mcp.call("memory", "relate", source=ids[0], target=ids[1], relation="blocks", strength=70)
    ref = ada_mcp.rows("hub", "activity", verbs=["created"], limit=1)[0]["ref"]
    [item] = ada_mcp.call("get", refs=[ref])["items"]
    assert item == {"ref": ref, "source": ids[0], "target": ids[1], "relation": "blocks", "strength": 70}
    assert cy_mcp.call("get", refs=[ref])["missing"] == [ref]
