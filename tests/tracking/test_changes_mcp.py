"""The MCP tool `file`: changes are recorded, listed and filtered, and locks are checked."""

import pytest

from tests.hub import McpClient, RestClient


def test_a_change_is_recorded_and_read_back(ada_mcp: McpClient) -> None:
    made = ada_mcp.call(
        "file", "record", path="./src/app.py", change="modified", layer="data", description="Why."
    )
    assert made["path"] == "src/app.py"
    [row] = ada_mcp.rows("file", "changes")
    assert row.pop("at")[-1] == "Z"
    assert row == {**made, "change": "modified", "by": "ada", "layer": "data", "description": "Why."}


def test_empty_columns_are_left_out(ada_mcp: McpClient) -> None:
    ada_mcp.call("file", "record", path="a", change="created")
    assert ada_mcp.call("file", "changes")["columns"] == ["id", "path", "change", "by", "at"]


def test_a_call_without_action_is_inferred_from_its_arguments(ada_mcp: McpClient) -> None:
    assert "id" in ada_mcp.call("file", path="a", change="created")
    assert "fence" in ada_mcp.call("file", paths=["a"])
    assert ada_mcp.call("file")["count"] == 1
    assert ada_mcp.call("file", path="a")["count"] == 1
    assert ada_mcp.call("file", lease_id=1)["error"] == "invalid"


@pytest.fixture
def history(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    ada_mcp.call("file", "record", path="src/api/auth.py", change="created", layer="business")
    ben_mcp.call("file", "record", path="src/app.py", change=2, layer="data")
    ada_mcp.call("file", "record", path="docs/x.md", change="DELETED", layer="data")


def test_a_lock_over_mcp(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    ada_mcp.call("file", "record", path="a", change="deleted")
    lock = ben_mcp.call("file", "check_lock", path="a", within_seconds=60)
    assert (lock["locked"], lock["by"], lock["change"]) == (True, "ada", "deleted")
    assert ada_mcp.call("file", "check_lock", path="a") == {"locked": False}
    assert ben_mcp.call("file", "check_lock", path="a", agent="Ada")["error"] == "not_allowed"


def test_changes_are_listed_as_activity(history: None, ben_mcp: McpClient) -> None:
    rows = ben_mcp.rows("hub", "activity")
    assert [(row["agent"], row["verb"], row["ref"]) for row in rows] == [
        ("ada", "deleted", "resource:docs/x.md"),
        ("ben", "modified", "resource:src/app.py"),
        ("ada", "created", "resource:src/api/auth.py"),
    ]
    assert ben_mcp.call("hub", "updates", since="e0")["changes"] == 2
    assert ben_mcp.call("hub", "activity", verbs=["record"])["count"] == 3
    assert ben_mcp.call("hub", "activity", verbs=["lease", "release"])["count"] == 0


def test_recent_changes_are_a_view(history: None, ada_mcp: McpClient) -> None:
    rows = ada_mcp.rows("hub", "view", name="recent_file_changes", limit=2)
    assert [row["path"] for row in rows] == ["docs/x.md", "src/app.py"]


@pytest.mark.parametrize("glob", ["src/**", "src/api/", "src/api/*.py", "**/auth.py", "src/[a-b]*/auth.p?"])
def test_a_glob_is_locked_by_a_change_of_a_matching_file(
    ada_mcp: McpClient, ben_mcp: McpClient, ben_rest: RestClient, glob: str
) -> None:
    ada_mcp.call("file", "record", path="src/api/auth.py", change="modified")
    lock = ben_mcp.call("file", "check_lock", path=glob)
    assert (lock["locked"], lock["by"], lock["change"]) == (True, "ada", "modified")
    assert ben_rest.get("changes/lock/", path=glob).body == lock
    assert ada_mcp.call("file", "check_lock", path=glob) == {"locked": False}


@pytest.mark.parametrize("glob", ["docs/**", "src/*.py", "**/*.md"])
def test_a_glob_is_not_locked_by_files_that_it_does_not_match(
    ada_mcp: McpClient, ben_mcp: McpClient, ben_rest: RestClient, glob: str
) -> None:
    ada_mcp.call("file", "record", path="src/api/auth.py", change="modified")
    ada_mcp.call("file", "lease", paths=["lib/*.py"])
    assert ben_mcp.call("file", "check_lock", path=glob) == {"locked": False}
    assert ben_rest.get("changes/lock/", path=glob).body == {"locked": False}


@pytest.mark.parametrize("glob", ["src/**", "src/api/*", "**/*.py", "src/"])
def test_a_glob_is_locked_by_an_overlapping_lease(
    ada_mcp: McpClient, ben_mcp: McpClient, ben_rest: RestClient, glob: str
) -> None:
    made = ada_mcp.call("file", "lease", paths=["src/api/**"])
    lock = ben_mcp.call("file", "check_lock", path=glob)
    assert (lock["locked"], lock["by"], lock["expires"]) == (True, "ada", made["expires"])
    assert ben_rest.get("changes/lock/", path=glob).body == lock
    assert ada_mcp.call("file", "check_lock", path=glob) == {"locked": False}


def test_a_glob_is_locked_by_the_last_change_of_another_agent(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    items = [{"path": f"src/{n}.py", "change": "created"} for n in range(30)]
    ada_mcp.call("file", "record_batch", items=items)
    ben_mcp.call("file", "record_batch", items=items)
    ben_mcp.call("file", "record", path="src/5.py", change="deleted")
    lock = ada_mcp.call("file", "check_lock", path="src/**")
    assert (lock["by"], lock["change"]) == ("ben", "deleted")
    assert ben_mcp.call("file", "check_lock", path="src/**")["by"] == "ada"
