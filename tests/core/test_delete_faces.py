"""The tool `delete` over MCP, on both surfaces and both transports, and over REST."""

import json
from typing import Any

import pytest

from ctxhub.core.accounts.access_tokens import create_token
from ctxhub.core.models import Event, Project
from tests.hub import LiveHub, McpClient, RestClient
from tests.stdio import stdio_hub


def decide(client: Any, *keys: str) -> None:
    for key in keys:
        client.call("decision", "set", key=key, value="v")


def test_a_result_is_an_error_only_if_none_was_deleted(ada_mcp: McpClient) -> None:
    decide(ada_mcp, "a", "b")
    some = ada_mcp.result("delete", {"refs": ["decision:a", "decision:nothing"]})
    none = ada_mcp.result("delete", {"refs": ["decision:a", "decision:nothing"]})
    tried = ada_mcp.result("delete", {"refs": ["decision:a"], "dry_run": True})
    assert ada_mcp.call("delete", refs=["decision:a"], dry_run=True)["dry_run"] is True
    assert [result["isError"] for result in (some, none, tried)] == [False, True, False]
    body = json.loads(none["content"][0]["text"])
    assert (body["error"], body["columns"], body["count"]) == ("not_found", ["ref", "result", "note"], 2)
    assert [row[1] for row in body["rows"]] == ["not_found", "not_found"]


def test_a_retry_over_mcp_answers_the_first_result(ada_mcp: McpClient, apollo: Project) -> None:
    decide(ada_mcp, "a")
    results = [
        ada_mcp.result("delete", {"refs": ["decision:a"]}, {"ctxhub/request_id": "r-1"}) for _ in range(2)
    ]
    assert results[0] == results[1]
    assert Event.objects.in_project(apollo).filter(verb="deleted").count() == 1


def test_a_pinned_token_deletes_as_its_agent_alone(hub: LiveHub, apollo: Project) -> None:
    eve = hub.mcp(create_token(project=apollo, agent="eve", scopes=["read", "write"]).secret)
    memory = eve.call("memory", "add", title="t", content="c")["id"]
    refused = eve.call("delete", refs=[f"memory:{memory}"], agent="ada")
    assert refused["error"] == "not_allowed"
    assert eve.rows("delete", refs=[f"memory:{memory}"]) == [{"ref": f"memory:{memory}", "result": "deleted"}]
    [row, *_] = eve.rows("hub", "activity", verbs=["deleted"])
    assert row["agent"] == "eve"


@pytest.mark.one_engine
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("surface", ["grouped", "flat"])
def test_over_stdio_on_both_surfaces(apollo: Project, surface: str) -> None:
    with stdio_hub("--project", "apollo", "--surface", surface) as client:
        client.start()
        assert client.tools()[-1]["name"] == "delete"
        client.call("decision_set", key="a", value="v")
        old = client.call("decision_delete", key="a")
        assert old["call"] == {"tool": "delete", "refs": ["decision:a"]}
        assert client.call("delete", refs='["decision:a"]')["rows"] == [["decision:a", "deleted"]]
        assert client.call("delete", refs=["decision:a"])["error"] == "not_found"


@pytest.mark.one_engine
@pytest.mark.django_db(transaction=True)
def test_over_stdio_readers_do_not_see_it(apollo: Project) -> None:
    with stdio_hub("--project", "apollo", "--scopes", "read") as client:
        client.start()
        assert "delete" not in [tool["name"] for tool in client.tools()]
        assert client.call("delete", refs=["decision:a"])["error"] == "not_allowed"
        [row] = client.call("delete", refs=["decision:a"], dry_run=True)["rows"]
        assert row[1] == "not_allowed"


# -- REST ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["call/delete/", "call/delete/delete/"])
def test_over_rest_it_is_called_as_every_tool(ada_rest: RestClient, address: str) -> None:
    ada_rest.post("decisions/", {"key": "a", "value": 1})
    tried = ada_rest.post(address, {"refs": ["decision:a"], "dry_run": True})
    done = ada_rest.post(address, {"refs": ["decision:a", "memory:9"], "format": "objects"})
    again = ada_rest.post(address, {"refs": ["decision:a"]})
    assert [reply.status for reply in (tried, done, again)] == [200, 200, 404]
    assert [item["result"] for item in done.body["items"]] == ["deleted", "not_found"]
    assert ada_rest.get("decisions/a/").status == 404


def test_what_is_refused_has_its_status(
    ada_rest: RestClient, ben_rest: RestClient, hub: LiveHub, apollo: Project
) -> None:
    ada_rest.post("decisions/", {"key": "a", "value": 1})
    reader = hub.rest(create_token(project=apollo, scopes=["read"]).secret)
    statuses = [
        client.post("call/delete/", {"refs": refs}).status
        for client, refs in (
            (ben_rest, ["decision:a"]),
            (reader, ["memory:1"]),
            (ben_rest, ["constraint:1"]),
            (ben_rest, [f"memory:{n}" for n in range(51)]),
            (ben_rest, ["nonsense"]),
        )
    ]
    assert statuses == [403, 403, 400, 400, 400]


@pytest.mark.parametrize(
    ("address", "body", "ref"),
    [
        ("call/decision/delete/", {"key": "a/b"}, "decision:a/b"),
        ("call/memory/delete/", {"id": 4}, "memory:4"),
        ("call/memory/context_delete/", {"context": "shop"}, "context:shop"),
        ("call/scratchpad/delete/", {"workflow_id": 2}, "workflow:2"),
        ("call/snapshot/delete/", {"id": "snapshot:3"}, "snapshot:3"),
        ("call/session/delete/", {"session": "evening"}, "session:evening"),
    ],
)
def test_the_old_addresses_say_where_to_go(
    ada_rest: RestClient, address: str, body: dict[str, Any], ref: str
) -> None:
    reply = ada_rest.post(address, body)
    assert (reply.status, reply.body["call"]) == (400, {"tool": "delete", "refs": [ref]})
    assert reply.body["leave_out"] == list(body)
