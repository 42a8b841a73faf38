"""Calls that mean another operation: the first error has what a client sends next, and that is taken."""

import json
from typing import Any

import pytest

from tests.hub import McpClient, RestClient
from tests.mcp.wrong_calls import corrected

pytestmark = pytest.mark.one_engine


@pytest.fixture
def stored(ada_mcp: McpClient) -> McpClient:
    for key in ("billing/rounding", "billing/half-even"):
        ada_mcp.call("decision", "set", key=key, value="x")
    ada_mcp.call("constraint", "add", category="billing", text="No floats.", paths=["src/*.py"])
    ada_mcp.call("snapshot", "save", content="Chose half even.")
    return ada_mcp


DEPRECATED = {"superseded_by": "billing/half-even"}
SUPERSEDING: list[dict[str, Any]] = [
    {"key": "billing/rounding", **DEPRECATED},
    {"key": "billing/rounding", "by": "billing/half-even"},
    {"key": "billing/rounding", "with": "billing/half-even", "reason": "Exact."},
    {"key": "billing/rounding", "new_key": "billing/half-even"},
    {"old_key": "billing/rounding", "new_key": "billing/half-even"},
    {"key": "billing/half-even", "supersedes": "billing/rounding"},
    {"key": "billing/half-even", "replaces": "decision:billing/rounding"},
]


@pytest.mark.parametrize("given", SUPERSEDING, ids=str)
def test_to_supersede_is_to_deprecate(stored: McpClient, given: dict[str, Any]) -> None:
    arguments = {"action": "supersede", **given}
    error = stored.call("decision", **arguments)
    tool, mended = corrected("decision", arguments, error)
    assert (tool, mended["action"]) == ("decision", "deprecate")
    assert "error" not in stored.call(tool, **mended)
    [item] = stored.call("get", refs=["decision:billing/rounding"])["items"]
    assert (item["status"], item["superseded_by"]) == ("deprecated", "billing/half-even")


def test_who_deprecates_is_no_successor(stored: McpClient) -> None:
    error = stored.call("decision", "deprecate", key="billing/rounding", by="ada")
    assert (error.get("did_you_mean"), error["leave_out"]) == (None, ["by"])


@pytest.mark.parametrize("tool", ["constraint", "decision"])
@pytest.mark.parametrize("name", ["path", "paths", "file", "file_path"])
def test_a_list_for_a_path_is_a_check(stored: McpClient, tool: str, name: str) -> None:
    arguments = {"action": "list", name: "src/a.py"}
    error = stored.call(tool, **arguments)
    meant, mended = corrected(tool, arguments, error)
    assert (meant, mended) == ("check", {"paths": "src/a.py"})
    assert len(stored.call(meant, **mended)["constraints"]["rows"]) == 1


def test_a_list_for_a_path_and_a_filter_of_its_own_is_no_check(stored: McpClient) -> None:
    assert "call" not in stored.call("constraint", "list", path="src/a.py", layer="data")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ({"action": "create", "content": "Did it.", "type": "decision"}, "save"),
        ({"action": "save", "content": "Did it.", "kind": "decision"}, "save"),
        ({"action": "list", "type": "decision"}, "list"),
        ({"action": "restore", "id": 1}, "get"),
    ],
    ids=str,
)
def test_calls_of_snapshots(stored: McpClient, arguments: dict[str, Any], meant: str) -> None:
    known = {**arguments, **({"id": stored.rows("snapshot", "list")[0]["id"]} if "id" in arguments else {})}
    tool, mended = corrected("snapshot", known, stored.call("snapshot", **known))
    assert (tool, mended["action"], "type" in mended, "kind" in mended) == ("snapshot", meant, False, False)
    assert "error" not in stored.call(tool, **mended)


def test_a_decision_that_supersedes_another_is_set_first(stored: McpClient) -> None:
    error = stored.call("decision", "set", key="a", value="x", supersedes="billing/rounding")
    assert error["hint"] == (
        "Without supersedes; then decision deprecate with the old key and superseded_by."
    )


def test_what_restores_a_constraint_activates_it(stored: McpClient) -> None:
    [row] = stored.rows("constraint", "list")
    stored.call("constraint", "deactivate", id=row["id"])
    assert stored.call("constraint", "restore", id=row["id"])["did_you_mean"] == "activate"


@pytest.mark.parametrize("action", ["update", "edit", "modify"])
def test_how_a_constraint_is_changed_is_told(stored: McpClient, action: str) -> None:
    hint = stored.call("constraint", action, id=1, text="No doubles.")["hint"]
    assert hint.startswith("A constraint does not change: add the new one with constraint add")


# -- Leases by their paths -------------------------------------------------------------------------


def live(client: McpClient) -> list[list[str]]:
    return [row["paths"] for row in client.rows("file", "leases")]


@pytest.mark.parametrize(
    "named", [{"path": "src/a.py"}, {"paths": ["src/a.py"]}, {"paths": "./src/a.py"}, {"path": "src/a.py:4"}]
)
def test_a_lease_is_released_by_its_path(ada_mcp: McpClient, named: dict[str, Any]) -> None:
    for path in ("src/a.py", "src/b.py"):
        ada_mcp.call("file", "lease", paths=[path])
    assert ada_mcp.call("file", "release", **named) == {"released": 1}
    assert live(ada_mcp) == [["src/b.py"]]


def test_several_leases_are_released_by_their_paths(ada_mcp: McpClient) -> None:
    ada_mcp.call("file", "lease", paths=["src/a.py", "src/b.py"])
    ada_mcp.call("file", "lease", paths=["docs/**"])
    assert ada_mcp.call("file", "release", paths=["docs/**", "src/b.py", "src/a.py"]) == {"released": 2}


@pytest.mark.parametrize("held", [["src/a.py", "src/b.py"], ["src/**"]])
def test_a_lease_on_more_is_not_released_but_named(ada_mcp: McpClient, held: list[str]) -> None:
    lease = ada_mcp.call("file", "lease", paths=held)["lease_id"]
    arguments = {"action": "release", "path": "src/a.py"}
    error = ada_mcp.call("file", **arguments)
    assert (error["error"], error["call"]["lease_id"]) == ("invalid", lease)
    assert f"Lease {lease} is on" in error["hint"]
    assert live(ada_mcp) == [held]


def test_of_several_leases_on_a_path_all_are_named(ada_mcp: McpClient) -> None:
    for paths in (["src/a.py", "src/b.py"], ["src/*.py"]):
        ada_mcp.call("file", "lease", paths=paths)
    error = ada_mcp.call("file", "release", path="src/a.py")
    assert "call" not in error
    assert "Lease 1 is on" in error["hint"] or "lease" in error["hint"]
    assert len(live(ada_mcp)) == 2


def test_a_path_without_a_lease_of_ones_own_is_not_found(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    ben_mcp.call("file", "lease", paths=["src/a.py"])
    error = ada_mcp.call("file", "release", path="src/a.py")
    assert (error["error"], "call" in error) == ("not_found", False)
    assert live(ben_mcp) == [["src/a.py"]]


@pytest.mark.parametrize("also", [{"all": True}, {"lease_id": 1}])
def test_a_path_and_another_name_of_a_lease_are_refused(ada_mcp: McpClient, also: dict[str, Any]) -> None:
    ada_mcp.call("file", "lease", paths=["src/a.py"])
    assert "both" in ada_mcp.call("file", "release", path="src/a.py", **also)["message"]
    assert live(ada_mcp) == [["src/a.py"]]


def test_a_lease_is_released_by_its_path_over_rest(ada_rest: RestClient) -> None:
    ada_rest.post("leases/", {"paths": ["src/a.py"]})
    assert ada_rest.post("leases/release/", {"paths": ["src/b.py"]}).status == 404
    assert ada_rest.post("leases/release/", {"paths": ["src/a.py"]}).body == {"released": 1}
    assert ada_rest.get("leases/").body["items"] == []


@pytest.mark.parametrize(("minutes", "stored"), [("30m", 30), ("2h", 120), ("45", 45), (20, 20)])
def test_minutes_may_have_a_unit(ada_mcp: McpClient, minutes: Any, stored: int) -> None:
    error = ada_mcp.call("file", "lease", paths=["a"], duration=minutes)
    tool, mended = corrected("file", {"action": "lease", "paths": ["a"], "duration": minutes}, error)
    assert "error" not in ada_mcp.call(tool, **mended)


@pytest.mark.parametrize("minutes", ["90s", "30 m m", "soon", "99999999999999999d", "0m"])
def test_what_is_no_whole_number_of_minutes_is_refused(ada_mcp: McpClient, minutes: str) -> None:
    assert ada_mcp.call("file", "lease", paths=["a"], minutes=minutes)["error"] == "invalid"


# -- Names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "call"),
    [
        ("hub", {"action": "config_get"}, {"did_you_mean": "config"}),
        ("hub", {"action": "tags"}, {"did_you_mean": "vocabulary"}),
        ("memory", {"action": "get", "title": "t1"}, {"call": {"tool": "memory", "action": "search"}}),
        ("session", {"action": "load", "id": 1}, {"did_you_mean": {"id": "session"}}),
        ("session", {"action": "get", "id": 1}, {"did_you_mean": {"id": "session"}}),
        ("session", {"action": "save", "branch_name": "x"}, {"did_you_mean": {"branch_name": "branch"}}),
        ("lease_file", {"path": "a.py"}, {"call": {"tool": "file", "action": "lease"}}),
        ("help", {"tool": "memory"}, {"call": {"tool": "memory", "action": "help"}}),
        ("help", {"name": "decision set"}, {"call": {"action": "help", "name": "decision set"}}),
    ],
    ids=str,
)
def test_what_is_meant_is_told(
    ada_mcp: McpClient, tool: str, arguments: dict[str, Any], call: dict[str, Any]
) -> None:
    error = ada_mcp.call(tool, **arguments)
    for name, value in call.items():
        told = error[name]
        assert told == value or {*value.items()} <= {*told.items()}


def test_a_long_text_is_not_repeated_by_help(ada_mcp: McpClient) -> None:
    assert len(str(ada_mcp.call("help", query="x" * 100_000))) < 500


def test_the_name_of_a_pad_is_no_key_of_a_decision(ada_mcp: McpClient) -> None:
    assert "call" not in ada_mcp.call("scratchpad", "get", name="Plan")


def test_tradeoffs_in_another_form_are_refused_with_an_example(ada_mcp: McpClient) -> None:
    error = ada_mcp.call("decision", "set", key="k", value="x", tradeoffs="fast, but big")
    example = json.loads(error["hint"].removeprefix("tradeoffs: ").removesuffix("."))
    assert "error" not in ada_mcp.call("decision", "set", key="k", value="x", tradeoffs=example)
