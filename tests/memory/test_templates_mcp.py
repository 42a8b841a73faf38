"""Templates and analytics over the MCP wire."""

import json
from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Event, Project
from ctxhub.toolbox.actions import all_tools
from ctxhub.toolbox.tool_list import list_tools
from memory.templates.rules import EXAMPLES
from tests.crowd import ToolCall, over_http
from tests.hub import LiveHub, McpClient

INCIDENT: dict[str, Any] = {
    "defaults": {"layer": "infrastructure", "tags": ["incident"]},
    "require": ["rationale", "severity"],
    "patterns": {"severity": "^(low|high)$"},
}
ARGUMENTS: dict[str, Any] = {"name": "incident", "key": "k", "value": "x"}
REASONS: dict[str, Any] = {"rationale": "So.", "metadata": {"severity": "low"}}


@pytest.fixture
def incident(ada_mcp: McpClient) -> McpClient:
    answer = ada_mcp.call("decision", "template_set", name="incident", **INCIDENT)
    assert answer == {"name": "incident", "result": "created"}
    return ada_mcp


def shown(client: McpClient, key: str = "k") -> dict[str, Any]:
    decision: dict[str, Any] = client.call("decision", "get", key=key, include=["rationale"])["decision"]
    return decision


# -- Templates -------------------------------------------------------------------------------------


def test_a_template_of_one_agent_serves_another(incident: McpClient, ben_mcp: McpClient) -> None:
    answer = ben_mcp.call("decision", "from_template", **ARGUMENTS, **REASONS)
    assert answer == {"key": "k", "id": answer["id"], "version": "1.0.0", "result": "created"}
    decision = shown(incident)
    assert (decision["layer"], decision["tags"], decision["agent"]) == ("infrastructure", ["incident"], "ben")


def test_a_refused_decision_is_repaired_from_the_error(incident: McpClient) -> None:
    error = incident.call("decision", "from_template", **ARGUMENTS)
    assert (error["error"], error["missing"]) == ("invalid", ["rationale", "severity"])
    assert error["hint"] == "In metadata: 'severity'."
    error = incident.call(
        "decision", "from_template", **ARGUMENTS, rationale="So.", metadata={"severity": "bad"}
    )
    assert "severity 'bad' has to match ^(low|high)$" in error["message"]
    assert incident.call("decision", "from_template", **ARGUMENTS, **REASONS)["result"] == "created"


@pytest.mark.parametrize("said", ["template", "template_name"])
def test_the_name_of_a_template_may_be_called_so(incident: McpClient, said: str) -> None:
    arguments = {said: "incident", "key": "k", "value": "x"}
    assert incident.call("decision", "from_template", **arguments, **REASONS)["result"] == "created"


def test_required_tradeoffs_are_refused_with_an_example(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "template_set", template="choice", require=["tradeoffs", "alternatives"])
    arguments = {"template": "choice", "key": "k", "value": "x"}
    hint = ada_mcp.call("decision", "from_template", **arguments)["hint"]
    assert hint == " ".join(f"{name}: {EXAMPLES[name]}." for name in ("tradeoffs", "alternatives"))
    stored = {name: json.loads(example) for name, example in EXAMPLES.items()}
    assert ada_mcp.call("decision", "from_template", **arguments, **stored)["result"] == "created"
    assert shown(ada_mcp)["tradeoffs"] == stored["tradeoffs"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"layer": "data"},
        {"scopes": ["api"]},
        {"paths": ["src/**"]},
        {"status": "draft"},
        {"version": "2.5"},
        {"rationale": "Other."},
        {"alternatives": ["none"]},
        {"tradeoffs": {"pros": ["a"]}},
        {"metadata": {"severity": "high", "ticket": 5}},
    ],
    ids=lambda arguments: next(iter(arguments)),
)
def test_from_template_takes_every_argument_of_set(incident: McpClient, arguments: dict[str, Any]) -> None:
    incident.call("decision", "from_template", **{**ARGUMENTS, **REASONS, **arguments})
    [(name, value)] = arguments.items()
    assert shown(incident)[name] == value


def test_tags_are_merged_and_the_expected_version_is_checked(incident: McpClient) -> None:
    incident.call("decision", "from_template", **ARGUMENTS, **REASONS, tags='["b"]', expected_version=None)
    assert shown(incident)["tags"] == ["b", "incident"]
    late = incident.call("decision", "from_template", **ARGUMENTS, **REASONS, expected_version="0.9")
    assert (late["error"], late["current"]["version"]) == ("conflict", "1.0.0")


def test_own_and_built_in_templates_are_listed(incident: McpClient) -> None:
    rows = incident.rows("decision", "templates")
    assert [row["name"] for row in rows][3] == "incident"
    assert {name: rows[3][name] for name in INCIDENT} == INCIDENT
    assert {row["origin"] for row in rows} == {"own", "built-in"}


def test_a_template_is_opened_by_its_ref(incident: McpClient) -> None:
    refs = ["template:Incident", "template:deprecation", "template:nothing"]
    answer = incident.call("get", refs=refs)
    assert [(item["name"], item["origin"]) for item in answer["items"]] == [
        ("incident", "own"),
        ("deprecation", "built-in"),
    ]
    assert answer["missing"] == ["template:nothing"]
    [digest] = incident.call("get", refs="template:incident", detail="digest")["items"]
    assert digest == {"ref": "template:incident", "require": ["rationale", "severity"]}


def test_updates_and_activity_show_a_template(incident: McpClient, ben_mcp: McpClient) -> None:
    assert ben_mcp.call("hub", "updates")["templates"] == 1
    [row] = ben_mcp.rows("hub", "activity", verbs=["created"])
    assert (row["agent"], row["ref"]) == ("ada", "template:incident")


def test_a_shared_signature_is_described_once(ada: Caller) -> None:
    [memory] = list_tools(ada, only=["memory"])
    assert "\nupdate id! + what add takes" in memory["description"]
    set_, from_template = (all_tools()["decision"].actions[name] for name in ("set", "from_template"))
    assert from_template.arguments.names == ["name", *set_.arguments.names]
    [flat] = [tool for tool in list_tools(ada, surface="flat") if tool["name"] == "decision_from_template"]
    assert set(flat["inputSchema"]["properties"]) == {
        "name",
        "agent",
        *(argument.name for argument in set_.arguments.declared.all),
    }
    assert flat["inputSchema"]["required"] == ["name", "key", "value"]


@pytest.mark.every_engine
def test_concurrent_creations_make_one_template(hub: LiveHub, apollo: Project) -> None:
    crowd = over_http(hub, create_token(project=apollo, name="crowd").secret)
    call = ToolCall("decision", {"action": "template_set", "name": "t", "require": ["rationale"]})
    answers = [answer["result"] for [answer] in crowd([[call]] * 8)]
    assert sorted(answers) == ["created", *["unchanged"] * 7]
    assert Event.objects.in_project(apollo).filter(noun="template").count() == 1


# -- Analytics -------------------------------------------------------------------------------------


def test_analytics_summarise_the_values_of_decisions(ada_mcp: McpClient, ben_mcp: McpClient) -> None:
    for value in (120, 80, 100):
        ada_mcp.call("decision", "set", key="perf/api/p95_ms", value=value, layer="presentation")
    ada_mcp.call("decision", "set", key="perf/db/p95_ms", value=5.5, layer="data")
    stats = ben_mcp.call("decision", "analytics", pattern="perf/*", bucket="day", since="1h")
    assert stats.pop("rows")[0][1:] == [4, 76.375]
    assert stats == {
        "total": 1,
        "count": 4,
        "min": 5.5,
        "max": 120,
        "mean": 76.375,
        "p50": 90,
        "p95": 117,
        "last": 5.5,
        "columns": ["at", "count", "mean"],
    }
    assert ben_mcp.call("decision", "analytics", pattern="perf/*", layer="data")["count"] == 1
    assert ben_mcp.call("decision", "analytics", pattern="perf/*", until="1h")["count"] == 0
