"""Workflows and scratchpads over the MCP wire."""

from typing import Any

import pytest

from tests.hub import McpClient
from tests.memory.pads import content_of

TEXT = "# Findings\nA slow query\n\n# Plan\nMend it"


def new_workflow(client: McpClient, **fields: Any) -> int:
    return int(client.call("scratchpad", "create_workflow", **fields)["workflow_id"])


def pad(client: McpClient, content: str = TEXT, workflow: int | None = None, name: str = "notes") -> int:
    workflow = new_workflow(client) if workflow is None else workflow
    made = client.call("scratchpad", "create", workflow_id=workflow, name=name, content=content)
    return int(made["scratchpad_id"])


# -- Each operation --------------------------------------------------------------------------------


def test_one_agent_writes_and_another_reads(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    workflow = new_workflow(ada_mcp, name="Refactoring", metadata={"team": "payments"})
    row_id = pad(ada_mcp, workflow=workflow)
    [listed] = ben_mcp.rows("scratchpad", "workflows")
    shown = {
        "id": workflow,
        "name": "Refactoring",
        "pads": 1,
        "active": True,
        "metadata": {"team": "payments"},
    }
    assert {name: listed[name] for name in shown} == shown
    assert set(listed) == {*shown, "created_at", "updated_at"}
    [row] = ben_mcp.rows("scratchpad", "list", workflow_id=workflow)
    assert (row["id"], row["name"], row["length"]) == (row_id, "notes", len(TEXT))
    found = ben_mcp.call("scratchpad", "get", scratchpad_id=row_id)["scratchpad"]
    assert (found["content"], found["workflow_id"], found["revision"]) == (TEXT, workflow, 1)


def test_a_pad_is_created_edited_restored_and_deleted(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    row_id = pad(ada_mcp)
    target = {"scratchpad_id": row_id}
    assert ben_mcp.call("scratchpad", "append", **target, content="more")["new_length"] == len(TEXT) + 6
    changed = ada_mcp.call(
        "scratchpad", "update", **target, content="new", mode="append_section", section="plan"
    )
    assert (changed["result"], changed["revision"], changed["mode"]) == ("updated", 3, "append_section")
    assert content_of(row_id).endswith("Mend it\n\nmore\nnew")
    rows = ada_mcp.rows("scratchpad", "revisions", **target)
    assert [(row["revision"], row["change"], row["agent"]) for row in rows] == [
        (3, "section_extended", "ada"),
        (2, "appended", "ben"),
        (1, "created", "ada"),
    ]
    revision = ada_mcp.call("scratchpad", "revisions", **target, revision=2)["scratchpad"]
    assert (revision["content"], revision["agent"], revision["revision"]) == (f"{TEXT}\n\nmore", "ben", 2)
    assert ada_mcp.call("scratchpad", "restore", **target, revision=1)["revision"] == 4
    assert content_of(row_id) == TEXT
    ref = f"scratchpad:{row_id}"
    assert ada_mcp.rows("delete", refs=[ref]) == [{"ref": ref, "result": "deleted"}]
    assert ada_mcp.call("scratchpad", "get", **target) == {"scratchpad": None}


def test_a_workflow_is_closed_reopened_and_deleted(ada_mcp: McpClient) -> None:
    workflow = new_workflow(ada_mcp)
    row_id = pad(ada_mcp, workflow=workflow)
    closed = ada_mcp.call("scratchpad", "close_workflow", workflow_id=workflow)
    assert closed == {"workflow_id": workflow, "active": False, "result": "updated"}
    refused = ada_mcp.call("scratchpad", "append", scratchpad_id=row_id, content="x")
    assert refused["error"] == "conflict"
    assert "reopen=true" in refused["hint"]
    ada_mcp.call("scratchpad", "close_workflow", workflow_id=workflow, reopen=True)
    assert "new_length" in ada_mcp.call("scratchpad", "append", scratchpad_id=row_id, content="x")
    ref = f"workflow:{workflow}"
    gone = ada_mcp.rows("delete", refs=[ref])
    assert gone == [{"ref": ref, "result": "deleted", "note": "with 1 scratchpad"}]
    assert ada_mcp.call("scratchpad", "workflows")["total"] == 0


def test_get_reads_several_pads_and_lists_missing_ids(ada_mcp: McpClient) -> None:
    first, second = pad(ada_mcp, "a"), pad(ada_mcp, "b")
    answer = ada_mcp.call("scratchpad", "get", scratchpad_ids=[f"scratchpad:{second}", 10**9, str(first)])
    assert [found["content"] for found in answer["scratchpads"]] == ["b", "a"]
    assert answer["missing"] == [10**9]


def test_the_action_is_inferred_from_the_arguments(ada_mcp: McpClient) -> None:
    workflow = new_workflow(ada_mcp, name="w")
    made = ada_mcp.call("scratchpad", workflow_id=workflow, name="notes", content="eagle")
    target = {"scratchpad_id": made["scratchpad_id"]}
    assert ada_mcp.call("scratchpad", **target, content="x")["new_length"] == 8
    assert ada_mcp.call("scratchpad", query="eagle")["total"] == 1
    assert ada_mcp.call("scratchpad", query="eagle", workflow_id=workflow)["total"] == 1
    assert ada_mcp.call("scratchpad", **target)["scratchpad"]["content"] == "eagle\n\nx"
    assert ada_mcp.call("scratchpad", scratchpad_ids=[target["scratchpad_id"]])["missing"] == []
    assert ada_mcp.call("scratchpad", workflow_id=workflow)["count"] == 1
    assert ada_mcp.call("scratchpad")["rows"][0][1] == "w"


def test_search_get_stats_and_activity_include_pads(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    workflow = new_workflow(ada_mcp, name="eagle landing")
    row_id = pad(ada_mcp, "eagle", workflow)
    refs = {row["ref"] for row in ben_mcp.rows("search", query="eagle")}
    assert refs == {f"workflow:{workflow}", f"scratchpad:{row_id}"}
    items = ben_mcp.call("get", refs=sorted(refs))["items"]
    assert [item["ref"] for item in items] == sorted(refs)
    assert (items[0]["content"], items[1]["pads"]) == ("eagle", 1)
    digests = ben_mcp.call("get", refs=sorted(refs), detail="digest")["items"]
    assert ("metadata" in digests[1], digests[0]["length"]) == (False, 5)
    stats = ben_mcp.call("hub", "stats")
    assert (stats["workflows"], stats["scratchpads"]) == (1, 1)
    news = ben_mcp.call("hub", "updates", since="e0")
    assert (news["workflows"], news["scratchpads"]) == (1, 1)
    ada_mcp.call("scratchpad", "append", scratchpad_id=row_id, content="x")
    [row] = ben_mcp.rows("hub", "activity", verbs=["append"])
    assert (row["ref"], row["note"]) == (f"scratchpad:{row_id}", "notes")


# -- Filters and pages -----------------------------------------------------------------------------


@pytest.fixture
def filled(ada_mcp: McpClient) -> dict[str, int]:
    ids = {name: new_workflow(ada_mcp, name=name) for name in ("open", "closed")}
    pad(ada_mcp, "eagle one", ids["open"], "first")
    pad(ada_mcp, "eagle two\nand eagle three", ids["open"], "second")
    pad(ada_mcp, "eagle four", ids["closed"], "third")
    ada_mcp.call("scratchpad", "close_workflow", workflow_id=ids["closed"])
    return ids


def test_each_filter_narrows_the_search(filled: dict[str, int], ada_mcp: McpClient) -> None:
    def found(**query: Any) -> list[str]:
        return sorted(row["name"] for row in ada_mcp.rows("scratchpad", "search", query="eagle", **query))

    assert found() == ["first", "second", "third"]
    assert found(workflow_id=filled["open"]) == ["first", "second"]
    assert len(found(limit=1)) == 1
    second = ada_mcp.rows("scratchpad", "list", workflow_id=filled["open"])[1]["id"]
    assert found(scratchpad_id=second) == ["second", "second"]
    rows = ada_mcp.rows("scratchpad", "search", query="three", scratchpad_id=second)
    assert [(row["line"], row["snippet"]) for row in rows] == [(2, "and eagle «three»")]
    assert "snippet" not in ada_mcp.rows("scratchpad", "search", query="three", include_content=False)[0]


# -- Bad input -------------------------------------------------------------------------------------


# -- Rights and requests ---------------------------------------------------------------------------
