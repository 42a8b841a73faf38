"""Snapshots over MCP."""

from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from sessions.windows import opening  # noqa: F401  # Says which session a call belongs to.
from tests.hub import LiveHub, McpClient

CONTENT = "We keep sessions in Redis. A restart loses them."
SUMMARY = CONTENT
ALL_FIELDS: dict[str, Any] = {
    "summary": "Sessions in Redis",
    "action_type": "decision",
    "rationale": "Speed.",
    "tags": ["caching", "shop"],
    "source": "editor",
    "metadata": {"seen": 1},
}


def save(client: McpClient, **rest: Any) -> int:
    given = {"content": CONTENT, "dependencies": [], "tags": [], **rest}
    return int(client.call("snapshot", "save", **given)["id"])


def test_one_agent_saves_a_snapshot_and_another_reads_it(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    cause, other = save(ada_mcp), save(ada_mcp)
    made = ada_mcp.call(
        "snapshot",
        "save",
        content=CONTENT,
        caused_by=f"snapshot:{cause}",
        dependencies=f"[{other}]",
        session="window",
        **ALL_FIELDS,
    )
    assert made == {
        "id": made["id"],
        "summary": "Sessions in Redis",
        "tags": ["caching", "shop"],
        "tier": "active",
        "caused_by": cause,
        "dependencies": [other],
    }
    whole = ben_mcp.call("snapshot", "get", id=f"snapshot:{made['id']}")
    assert whole == {
        "id": made["id"],
        "content": CONTENT,
        "caused_by": {"id": cause, "summary": SUMMARY},
        "dependencies": {"columns": ["id", "summary"], "rows": [[other, SUMMARY]], "count": 1},
        "dependents": 0,
        "session": whole["session"],
        "tier": "active",
        "access_count": 0,
        "last_accessed": None,
        "agent": "ada",
        "at": whole["at"],
        **ALL_FIELDS,
    }
    [opened] = ben_mcp.call("get", refs=[f"snapshot:{made['id']}"])["items"]
    read = {name: opened[name] for name in ("access_count", "last_accessed")}
    assert opened == {**whole, **read, "ref": f"snapshot:{made['id']}"}
    why = ben_mcp.call("snapshot", "why", id=made["id"])
    names = ("id", "action_type", "rationale", "summary", "caused_by", "dependencies", "dependents")
    assert why == {name: whole[name] for name in names}


@pytest.mark.parametrize(
    ("given", "action"),
    [({"content": CONTENT}, "save"), ({"query": "redis"}, "search"), ({"id": 0}, "why"), ({}, "load")],
)
def test_an_action_is_told_from_the_arguments(ada_mcp: McpClient, given: dict[str, Any], action: str) -> None:
    first = save(ada_mcp)
    given = {**given, **({"id": first} if "id" in given else {})}
    plain, named = ada_mcp.call("snapshot", **given), ada_mcp.call("snapshot", action, **given)
    assert plain.keys() == named.keys()
    assert "error" not in plain


def test_only_an_administrator_deletes(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    row_id = save(ben_mcp)
    save(ada_mcp, caused_by=row_id)
    ref = f"snapshot:{row_id}"
    assert ben_mcp.call("delete", refs=[ref])["error"] == "not_allowed"
    assert ada_mcp.rows("delete", refs=[ref]) == [
        {"ref": ref, "result": "deleted", "note": "1 snapshot that rested on it stays"}
    ]
    assert ada_mcp.call("snapshot", "get", id=row_id)["error"] == "not_found"
    verbs = [(row["verb"], row["ref"]) for row in ada_mcp.rows("hub", "activity")]
    assert verbs[0] == ("deleted", ref)


def test_a_reader_saves_nothing_and_reads_all(hub: LiveHub, ada_mcp: McpClient, apollo: Project) -> None:
    row_id = save(ada_mcp)
    reader = hub.mcp(create_token(project=apollo, agent="rea", scopes=["read"]).secret)
    assert reader.call("snapshot", "save", content=CONTENT)["error"] == "not_allowed"
    for action in ("get", "why", "chain", "impact"):
        assert "error" not in reader.call("snapshot", action, id=row_id)
    for action in ("load", "list", "graph"):
        assert "error" not in reader.call("snapshot", action)


def test_the_hub_counts_finds_and_tells_of_snapshots(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    cursor = ben_mcp.call("hub", "updates")["cursor"]
    row_id = save(ada_mcp)
    assert ada_mcp.call("hub", "stats")["snapshots"] == 1
    assert ben_mcp.call("hub", "updates", since=cursor)["snapshots"] == 1
    [hit] = ben_mcp.rows("search", query="why are sessions in redis?", kinds=["snapshot"])
    assert hit["ref"] == f"snapshot:{row_id}"
