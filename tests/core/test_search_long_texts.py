"""Hits in long texts say which lines to read, and how long the text is: over MCP and over REST."""

from typing import Any

import pytest

from tests.hub import McpClient, RestClient

FILLER = "The nightly job writes its report into the archive.\n"
NEEDLE = "The quokka cache is warmed by the importer.\n"
LONG = FILLER * 300 + NEEDLE + FILLER * 300


@pytest.fixture
def refs(ada_mcp: McpClient) -> dict[str, str]:
    memory = ada_mcp.call("memory", "add", title="Reports", content=LONG)["id"]
    workflow = ada_mcp.call("scratchpad", "create_workflow")["workflow_id"]
    pad = ada_mcp.call("scratchpad", "create", workflow_id=workflow, name="Reports", content=LONG)
    snapshot = ada_mcp.call(
        "snapshot", "save", summary="Reports", content=LONG, rationale="Why not.", action_type="research"
    )
    return {
        "memory": f"memory:{memory}",
        "scratchpad": f"scratchpad:{pad['scratchpad_id']}",
        "snapshot": f"snapshot:{snapshot['id']}",
    }


@pytest.mark.parametrize("kind", ["memory", "scratchpad", "snapshot"])
def test_the_lines_of_a_hit_are_read_with_get(ada_mcp: McpClient, refs: dict[str, str], kind: str) -> None:
    [row] = ada_mcp.rows("search", query="quokka", kinds=[kind])
    assert (row["ref"], row["size"]) == (refs[kind], len(LONG))
    answer = ada_mcp.call("get", refs=[row["ref"]], lines=row["lines"])
    [item] = answer["items"]
    assert item["lines"] == row["lines"]
    assert NEEDLE in item["content"]
    assert len(item["content"]) < 5_000


def test_every_search_has_the_lines(ada_mcp: McpClient, ada_rest: RestClient, refs: dict[str, str]) -> None:
    [found] = ada_rest.get("search/", query="quokka", kinds="memory").body["items"]
    lines = found["lines"]
    assert (found["ref"], found["size"]) == (refs["memory"], len(LONG))
    [memory] = ada_mcp.rows("memory", "search", query="quokka")
    assert (memory["lines"], memory["size"]) == (lines, len(LONG))
    read = ada_mcp.call("memory", "get", id=memory["id"], lines=lines)
    assert NEEDLE in read["content"]
    [found] = ada_rest.get("memories/search/", query="quokka").body["items"]
    assert (found["lines"], found["size"]) == (lines, len(LONG))
    [pad] = ada_mcp.rows("scratchpad", "search", query="quokka")
    assert (pad["lines"], pad["size"]) == (lines, len(LONG))
    [pad] = ada_rest.get("scratchpads/search/", query="quokka").body["items"]
    assert (pad["lines"], pad["size"]) == (lines, len(LONG))


def test_short_texts_have_no_lines(ada_mcp: McpClient) -> None:
    ada_mcp.call("memory", "add", title="Reports", content=NEEDLE + FILLER * 60)
    answer = ada_mcp.call("search", query="quokka")
    assert not {"lines", "size"} & set(answer["columns"])


def test_refs_alone_have_no_lines(ada_mcp: McpClient, refs: dict[str, str]) -> None:
    answer = ada_mcp.call("search", query="quokka", detail="ids")
    assert not {"lines", "size"} & set(answer["columns"])


def test_earlier_states_have_no_lines(ada_mcp: McpClient, refs: dict[str, str]) -> None:
    row_id = refs["memory"].removeprefix("memory:")
    ada_mcp.call("memory", "update", id=row_id, content=FILLER * 600)
    [row] = ada_mcp.rows("search", query="quokka", kinds=["memory"])
    assert (row["ref"], row.get("lines"), row.get("size")) == (refs["memory"], None, None)


def test_a_hit_in_one_long_line_is_read_from_its_passage_on(ada_mcp: McpClient) -> None:
    content = LONG.replace("\n", " ")
    ada_mcp.call("memory", "add", title="Reports", content=content)
    [row] = ada_mcp.rows("search", query="quokka")
    first, _, last = row["lines"].partition("-")
    assert (first.partition("@")[0], last) == ("1", "1")
    read: dict[str, Any] = ada_mcp.call("get", refs=[row["ref"]], lines=row["lines"], max_tokens=1500)
    assert NEEDLE.strip() in read["items"][0]["content"]


def test_a_hit_in_the_reason_of_a_long_decision_has_its_size_alone(ada_mcp: McpClient) -> None:
    value = FILLER * 300
    ada_mcp.call("decision", "set", key="reports", value=value, rationale=NEEDLE)
    [row] = ada_mcp.rows("search", query="quokka")
    assert (row["ref"], row["size"]) == ("decision:reports", len(value))
