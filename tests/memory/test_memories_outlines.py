"""The outline of a long memory, over MCP and over REST."""

from typing import Any

import pytest

from tests.hub import McpClient, RestClient

CONTENT = "---\ntitle: Cache\n# no heading\n---\n# Cache\nRedis.\n\nKeys\n----\nshop:1\n```\n# no\n```\n"
ROWS = [[1, "Cache", 5, 46], [2, "Keys", 8, 30]]
COLUMNS = ["level", "text", "line", "size"]


def kept(mcp: McpClient, content: str = CONTENT) -> int:
    return int(mcp.call("memory", "add", title="Cache of the shop", content=content)["id"])


def test_an_outline_has_the_headings_instead_of_the_content(ada_mcp: McpClient) -> None:
    found = ada_mcp.call("memory", "get", id=kept(ada_mcp), outline=True)
    assert found["outline"] == {"columns": COLUMNS, "rows": ROWS, "count": 2}
    assert (found["title"], found["total_lines"], "content" in found) == ("Cache of the shop", 13, False)
    as_objects = ada_mcp.call("memory", "get", id=found["id"], outline=True, format="objects")
    assert as_objects["outline"]["items"] == [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]


def test_rest_answers_the_outline(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    found = ada_rest.get(f"memories/{kept(ada_mcp)}/", outline="true").body
    assert found["outline"] == [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    assert "content" not in found


def test_the_lines_of_a_heading_are_read(ada_mcp: McpClient) -> None:
    found = ada_mcp.call("memory", "get", id=kept(ada_mcp), lines="8-10")
    assert found["content"] == "Keys\n----\nshop:1"


@pytest.mark.parametrize("arguments", [{"lines": "1-2"}, {"tail": 3}], ids=str)
def test_an_outline_excludes_lines(
    ada_mcp: McpClient, ada_rest: RestClient, arguments: dict[str, Any]
) -> None:
    row_id = kept(ada_mcp)
    over_mcp = ada_mcp.call("memory", "get", id=row_id, outline=True, **arguments)
    assert (over_mcp["error"], "exclude one another" in over_mcp["message"]) == ("invalid", True)
    assert ada_rest.get(f"memories/{row_id}/", outline="true", **arguments).status == 400


def test_a_memory_without_headings_has_no_outline(ada_mcp: McpClient) -> None:
    found = ada_mcp.call("memory", "get", id=kept(ada_mcp, "Plain\n\n---\nText"), outline=True)
    assert ("outline" in found, "content" in found, found["total_lines"]) == (False, False, 4)


def test_the_outline_is_in_help_and_not_in_the_list_of_tools(ada_mcp: McpClient) -> None:
    [tool] = [tool for tool in ada_mcp.tools() if tool["name"] == "memory"]
    assert "outline" not in tool["inputSchema"]["properties"]
    assert "outline" in str(ada_mcp.call("memory", "help"))


def test_a_cut_answer_points_to_the_outline(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    row_id = kept(ada_mcp, "# Cache\n" + "Redis keeps the list.\n" * 200)
    cut = ada_mcp.call("memory", "get", id=row_id, max_tokens=300)
    assert (cut["truncated"], cut["hint"]) == (True, "memory get with outline=true lists its headings.")
    assert "hint" in ada_rest.get(f"memories/{row_id}/", max_tokens=300).body
    assert "hint" not in ada_mcp.call("memory", "get", id=row_id)
    assert "hint" not in ada_mcp.call("memory", "get", id=row_id, lines="1-100", max_tokens=300)
    bare = kept(ada_mcp, "Redis keeps the list.\n" * 200)
    assert "hint" not in ada_mcp.call("memory", "get", id=bare, max_tokens=300)
