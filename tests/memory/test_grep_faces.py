"""`grep` over MCP and REST."""

from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from ctxhub.core.kit.listing import make_cursor
from tests.hub import McpClient, RestClient

LINES: dict[str, Any] = {"pattern": "RUN", "glob": "*.py", "ignore_case": True, "context_lines": 1}
FOUND = [
    {"file": "src/app.py", "line": 2, "text": "def run():", "before": ["import os"], "after": ["    pass"]},
]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, settings: Settings) -> Path:
    """A folder that only apollo may search."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("import os\ndef run():\n    pass\n")
    (tmp_path / "README.md").write_text("run it\n")
    settings.GREP_ROOTS = [("apollo", tmp_path)]
    return tmp_path


def test_mcp_finds_lines(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("memory", "grep", **LINES) == {
        "columns": ["file", "line", "text", "before", "after"],
        "rows": [list(FOUND[0].values())],
        "count": 1,
        "total": 1,
        "files": 1,
    }
    assert ada_mcp.rows("memory", "grep", pattern="run", path="README.md", limit=1) == [
        {"file": "README.md", "line": 1, "text": "run it"}
    ]


def test_rest_finds_lines(ada_rest: RestClient) -> None:
    query = "pattern=RUN&glob=*.py&ignore_case=true&context_lines=1"
    assert ada_rest.get(f"memories/grep/?{query}").body == {
        "items": FOUND,
        "next": None,
        "count": 1,
        "total": 1,
        "files": 1,
    }
    assert ada_rest.get("memories/grep/?pattern=run&path=src&limit=1").body["total"] == 1


def test_lines_come_in_pages(ada_mcp: McpClient, ada_rest: RestClient, root: Path) -> None:
    (root / "many.txt").write_text("".join(f"needle {n}\n" for n in range(5)))
    query: dict[str, Any] = {"pattern": "needle", "limit": 2}
    found: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = ada_mcp.call("memory", "grep", **query, **cursor)
        assert page["total"] == 5
        found += [row[1] for row in page["rows"]]
        if "next" not in page:
            break
        cursor = {"cursor": page["next"]}
    assert found == [1, 2, 3, 4, 5]
    first = ada_rest.get("memories/grep/", **query).body
    second = ada_rest.get("memories/grep/", **query, cursor=first["next"]).body
    assert [item["line"] for item in second["items"]] == [3, 4]


def test_a_page_cut_by_its_budget_goes_on_where_it_ended(ada_mcp: McpClient, root: Path) -> None:
    (root / "many.txt").write_text("".join(f"needle {n}\n" for n in range(150)))
    page = ada_mcp.call("memory", "grep", pattern="needle", limit=150, max_tokens=300)
    following = ada_mcp.call("memory", "grep", pattern="needle", limit=150, cursor=page["next"])
    assert following["rows"][0][1] == page["count"] + 1


@pytest.mark.parametrize("cursor", ["x", "Wy0xXQ", "WyJhIl0"])
def test_a_cursor_of_another_list_is_refused(ada_mcp: McpClient, cursor: str) -> None:
    assert ada_mcp.call("memory", "grep", pattern="needle", cursor=cursor)["error"] == "invalid"


def test_a_cursor_behind_the_end_finds_nothing(ada_mcp: McpClient) -> None:
    behind = ada_mcp.call("memory", "grep", pattern="run", cursor=make_cursor(2**63 - 1))
    assert (behind["count"], behind["total"], "next" in behind) == (0, 2, False)


def test_an_answer_respects_max_tokens(ada_mcp: McpClient, ada_rest: RestClient, root: Path) -> None:
    (root / "many.txt").write_text("needle in the haystack\n" * 150)
    answer = ada_mcp.call("memory", "grep", pattern="needle", limit=150, max_tokens=300)
    assert (answer["count"] + answer["omitted"], answer["total"]) == (150, 150)
    page = ada_rest.get("memories/grep/?pattern=needle&limit=150&max_tokens=300").body
    assert page["count"] + page["omitted"] == 150


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pattern": "("}, "pattern is no regular expression"),
        ({"pattern": "x", "path": "../x"}, "path"),
        ({"pattern": "x", "path": "/etc"}, "path"),
        ({"pattern": "x", "context_lines": 9}, "context_lines"),
        ({"pattern": "x", "limit": 0}, "limit"),
        ({}, "pattern"),
    ],
)
def test_bad_input_is_refused_over_mcp_and_rest(
    ada_mcp: McpClient, ada_rest: RestClient, arguments: dict[str, Any], message: str
) -> None:
    error = ada_mcp.call("memory", "grep", **arguments)
    assert error["error"] == "invalid"
    assert message in error["message"]
    reply = ada_rest.get("memories/grep/?" + "&".join(f"{name}={value}" for name, value in arguments.items()))
    assert (reply.status, reply.body["error"]) == (400, "invalid")
    assert message in reply.body["message"]


def test_an_unknown_path_is_not_found(ada_mcp: McpClient, ada_rest: RestClient) -> None:
    assert ada_mcp.call("memory", "grep", pattern="x", path="nowhere")["error"] == "not_found"
    assert ada_rest.get("memories/grep/?pattern=x&path=nowhere").status == 404


def test_a_project_without_a_root_is_refused_with_the_setting_to_change(
    cy_mcp: McpClient, cy_rest: RestClient
) -> None:
    error = cy_mcp.call("memory", "grep", pattern="run")
    assert (error["error"], "CTXHUB_GREP_ROOTS" in error["hint"]) == ("not_allowed", True)
    assert (cy_rest.get("memories/grep/?pattern=run").status, "app.py" in str(error)) == (403, False)


def test_names_of_other_tools_get_a_suggestion(ada_mcp: McpClient) -> None:
    error = ada_mcp.call("memory", "grep", pattern="x", max_results=5)
    assert (error["error"], error["did_you_mean"]) == ("invalid", {"max_results": "limit"})
    error = ada_mcp.call("memory", "grep", pattern="x", ignoreCase=True)
    assert error["did_you_mean"] == {"ignoreCase": "ignore_case"}
    assert "grep" in ada_mcp.call("memory", "mgrep", pattern="x")["did_you_mean"]
