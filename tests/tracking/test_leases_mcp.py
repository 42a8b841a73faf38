"""The MCP tool `file`: leases are acquired, listed, renewed and released."""

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Project
from tests.hub import LiveHub, McpClient


def test_a_lease_is_acquired_listed_renewed_and_released(ada_mcp: McpClient) -> None:
    made = ada_mcp.call("file", "lease", paths=["src/api/**", "docs/x.md"], minutes=5, reason="Rework.")
    [row] = ada_mcp.rows("file", "leases")
    assert made.pop("result") == "created"
    assert row == {
        **made,
        "paths": ["docs/x.md", "src/api/**"],
        "by": "ada",
        "exclusive": True,
        "reason": "Rework.",
    }
    renewed = ada_mcp.call("file", "renew", lease_id=made["lease_id"], minutes=60)
    assert (renewed["fence"], renewed["expires"] > made["expires"]) == (made["fence"], True)
    assert ada_mcp.call("file", "release", lease_id=made["lease_id"]) == {"released": 1}
    assert ada_mcp.call("file", "release", lease_id=made["lease_id"]) == {"released": 0}
    assert ada_mcp.call("file", "leases")["count"] == 0
    assert ada_mcp.call("file", "renew", lease_id=made["lease_id"])["error"] == "conflict"


def test_leasing_again_extends_the_lease(ada_mcp: McpClient) -> None:
    made = ada_mcp.call("file", "lease", paths=["src/**", "docs/x.md"], minutes=5, reason="Rework.")
    again = ada_mcp.call("file", "lease", paths=["docs/x.md", "src/**"], minutes=60, reason=None)
    assert again == {**made, "result": "extended", "expires": again["expires"]}
    assert again["expires"] > made["expires"]
    [row] = ada_mcp.rows("file", "leases")
    assert (row["lease_id"], row["reason"]) == (made["lease_id"], "Rework.")
    ada_mcp.call("file", "lease", paths=["docs/x.md", "src/**"], reason="")
    assert "reason" not in ada_mcp.call("file", "leases")["columns"]


def test_a_lease_of_all_files_is_shortened_with_a_hint(ada_mcp: McpClient) -> None:
    made = ada_mcp.call("file", "lease", paths="**", minutes=1440)
    renewed = ada_mcp.call("file", "renew", lease_id=made["lease_id"], minutes=120)
    assert "60 minutes, not 1440" in made["hint"]
    assert "60 minutes, not 120" in renewed["hint"]


def test_a_conflict_names_holder_paths_and_expiry(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    made = ada_mcp.call("file", "lease", paths="src/**", reason="Rework.")
    error = ben_mcp.call("file", "lease", paths=["src/app.py"], exclusive=False)
    assert error["error"] == "conflict"
    assert made["expires"] in error["message"]
    assert error["current"] == {
        "lease_id": made["lease_id"],
        "by": "ada",
        "paths": ["src/**"],
        "exclusive": True,
        "expires": made["expires"],
        "reason": "Rework.",
    }
    assert ben_mcp.call("file", "check_lock", path="src/app.py")["expires"] == made["expires"]


def test_shared_leases_overlap(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    for client in (ada_mcp, ben_mcp):
        assert "fence" in client.call("file", "lease", paths='["src/**"]', exclusive=False)
    assert ada_mcp.call("file", "lease", paths=["src/a"])["error"] == "conflict"


def test_another_agents_lease_needs_force_and_the_admin_scope(
    ada_mcp: McpClient, ben_mcp: McpClient, apollo: Project
) -> None:
    made = ben_mcp.call("file", "lease", paths=["a"])["lease_id"]
    own = ada_mcp.call("file", "lease", paths=["b"])["lease_id"]
    for action in ("renew", "release"):
        error = ada_mcp.call("file", action, lease_id=made)
        assert (error["error"], "'ben'" in error["message"]) == ("not_allowed", True)
    assert ben_mcp.call("file", "release", lease_id=own, force=True)["error"] == "not_allowed"
    assert ada_mcp.call("file", "release", lease_id=made, force=True, reason="Ben is on holiday.") == {
        "released": 1
    }
    assert ben_mcp.call("file", "release", all=True) == {"released": 0, "mail": 1}
    assert ada_mcp.rows("hub", "activity", limit=1)[0]["note"] == "held by ben: a; Ben is on holiday."
    [heard] = ben_mcp.rows("message", "inbox")
    assert (heard["from"], heard["type"], heard["priority"]) == ("ada", "warning", "high")
    assert heard["text"] == "I released your lease on a: Ben is on holiday. Others can lease it now."
    assert heard["payload"] == {"refs": [f"lease:{made}"]}


def test_a_reader_is_not_offered_leases(hub: LiveHub, apollo: Project) -> None:
    reader = hub.mcp(create_token(project=apollo, agent="r", scopes=["read"]).secret)
    [tool] = [tool for tool in reader.tools() if tool["name"] == "file"]
    lines = [line.partition(" ")[0] for line in tool["description"].splitlines()[1:]]
    assert lines == ["changes", "more,"]
    assert "see help: check_lock leases" in tool["description"]
    assert tool["annotations"]["readOnlyHint"]
