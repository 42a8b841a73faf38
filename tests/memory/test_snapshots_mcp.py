"""Snapshots over MCP."""

import json
from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from sessions.windows import opening  # noqa: F401  # Says which session a call belongs to.
from tests.hub import LiveHub, McpClient
from tests.tables import dump_project

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


def test_null_is_absent(ada_mcp: McpClient) -> None:
    names = ("summary", "action_type", "rationale", "caused_by", "tags", "source", "metadata", "session")
    made = ada_mcp.call("snapshot", "save", content=CONTENT, dependencies=None, **dict.fromkeys(names))
    assert made["summary"] == CONTENT
    assert ada_mcp.call("snapshot", "get", id=made["id"])["source"] == "mcp"


def test_a_credential_is_masked_and_counted(ada_mcp: McpClient) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    made = ada_mcp.call("snapshot", "save", content=f"Push with {token} please.")
    assert made["masked"] == 1
    assert token not in ada_mcp.call("snapshot", "get", id=made["id"])["content"]


def test_lists_have_columns_or_objects(ada_mcp: McpClient) -> None:
    row_id = save(ada_mcp, tags=["shop"])
    for action, given in (
        ("list", {}),
        ("load", {}),
        ("search", {"query": "redis"}),
        ("chain", {"id": row_id}),
    ):
        [row] = ada_mcp.rows("snapshot", action, **given)
        assert ada_mcp.call("snapshot", action, format="objects", **given)["items"] == [row]
        assert row["id"] == row_id


def test_a_page_leads_to_the_next(ada_mcp: McpClient) -> None:
    ids = [save(ada_mcp) for _ in range(3)]
    page = ada_mcp.call("snapshot", "list", limit=2)
    assert [row[0] for row in page["rows"]] == ids[:0:-1]
    assert page["total"] == 3
    last = ada_mcp.call("snapshot", "list", limit=2, cursor=page["next"])
    assert [row[0] for row in last["rows"]] == ids[:1]


@pytest.mark.parametrize(
    ("action", "arguments", "error"),
    [
        ("save", {}, "invalid"),
        ("save", {"content": 5}, "invalid"),
        ("save", {"content": CONTENT, "caused_by": "memory:999999"}, "not_found"),
        ("save", {"content": CONTENT, "caused_by": 999_999}, "not_found"),
        ("save", {"content": CONTENT, "dependencies": [999_999]}, "not_found"),
        ("save", {"content": CONTENT, "dependencies": ["x"]}, "invalid"),
        ("save", {"content": CONTENT, "metadata": "x"}, "invalid"),
        ("save", {"content": CONTENT, "session": 999_999}, "not_found"),
        ("save", {"content": CONTENT, "cause": 3}, "invalid"),
        ("load", {"limit": "many"}, "invalid"),
        ("load", {"view": 5}, "invalid"),
        ("search", {}, "invalid"),
        ("list", {"tier": "hot"}, "invalid"),
        ("get", {}, "invalid"),
        ("get", {"id": "x"}, "invalid"),
        ("get", {"id": 999_999}, "not_found"),
        ("why", {"id": 999_999}, "not_found"),
        ("chain", {"id": 999_999}, "not_found"),
        ("impact", {"id": 999_999}, "not_found"),
        ("graph", {"limit": 1_001}, "invalid"),
        ("graph", {"mermaid": "perhaps"}, "invalid"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    ada_mcp: McpClient, apollo: Project, action: str, arguments: dict[str, Any], error: str
) -> None:
    save(ada_mcp)
    before = dump_project(apollo)
    assert ada_mcp.call("snapshot", action, **arguments)["error"] == error
    ignored = ("core_agent", "core_accesstoken")
    after = dump_project(apollo)
    assert {t: r for t, r in after.items() if t not in ignored} == {
        t: r for t, r in before.items() if t not in ignored
    }


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


def test_another_project_sees_nothing(ada_mcp: McpClient, cy_mcp: McpClient) -> None:
    row_id = save(ada_mcp)
    for action in ("get", "why", "chain", "impact"):
        assert cy_mcp.call("snapshot", action, id=row_id)["error"] == "not_found"
    for action, given in (("load", {}), ("list", {}), ("search", {"query": "redis"})):
        assert cy_mcp.call("snapshot", action, **given)["count"] == 0
    assert cy_mcp.call("snapshot", "graph") == {}
    assert cy_mcp.call("snapshot", "save", content=CONTENT, caused_by=row_id)["error"] == "not_found"


def test_the_hub_counts_finds_and_tells_of_snapshots(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    cursor = ben_mcp.call("hub", "updates")["cursor"]
    row_id = save(ada_mcp)
    assert ada_mcp.call("hub", "stats")["snapshots"] == 1
    assert ben_mcp.call("hub", "updates", since=cursor)["snapshots"] == 1
    [hit] = ben_mcp.rows("search", query="why are sessions in redis?", kinds=["snapshot"])
    assert hit["ref"] == f"snapshot:{row_id}"


def test_a_repeated_save_answers_the_first(ada_mcp: McpClient) -> None:
    arguments = {"action": "save", "content": CONTENT}
    meta = {"ctxhub/request_id": "r1"}
    texts = [ada_mcp.result("snapshot", arguments, meta)["content"][0]["text"] for _ in range(2)]
    assert json.loads(texts[0]) == json.loads(texts[1])
    assert ada_mcp.call("snapshot", "list")["total"] == 1
