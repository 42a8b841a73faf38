"""Both eras of the protocol at one URL: a handshake until 2025-11-25, none from 2026-07-28."""

import json
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.toolbox.instructions import instructions
from tests.hub import McpClient, Reply

pytestmark = pytest.mark.one_engine

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def initialize(client: McpClient, version: str) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    result: dict[str, Any] = client.rpc("initialize", params)["result"]
    return result


def send_modern(
    client: McpClient, method: str, /, meta: dict[str, Any] | None = None, **params: Any
) -> Reply:
    headers = {"mcp-protocol-version": MODERN, "mcp-method": method}
    if "name" in params:
        headers["mcp-name"] = params["name"]
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": {**params, "_meta": {**META, **(meta or {})}},
    }
    return client.send("POST", "/mcp", message, headers)


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_an_earlier_client_initializes_in_its_own_version(
    ada: Caller, ada_mcp: McpClient, version: str
) -> None:
    answer = initialize(ada_mcp, version)
    assert answer["protocolVersion"] == version
    assert answer["serverInfo"]["name"] == "ctxhub"
    assert answer["instructions"] == instructions(ada)
    assert "tools" in answer["capabilities"]


def test_an_unknown_version_is_offered_a_supported_one(ada_mcp: McpClient) -> None:
    assert initialize(ada_mcp, "1999-01-01")["protocolVersion"] == "2025-11-25"


def test_no_handshake_and_no_session_are_needed(ada_mcp: McpClient) -> None:
    reply = ada_mcp.send("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert reply.body["result"]["tools"]
    assert "mcp-session-id" not in reply.headers


def test_a_later_client_discovers_the_hub(ada: Caller, ada_mcp: McpClient) -> None:
    answer = send_modern(ada_mcp, "server/discover").body["result"]
    assert MODERN in answer["supportedVersions"]
    assert answer["instructions"] == instructions(ada)
    assert "tools" in answer["capabilities"]


def test_a_later_client_calls_a_tool(ada_mcp: McpClient) -> None:
    arguments = {"action": "set", "key": "k", "value": "x"}
    result = send_modern(ada_mcp, "tools/call", name="decision", arguments=arguments).body["result"]
    assert json.loads(result["content"][0]["text"])["result"] == "created"
    assert (result["isError"], result["resultType"]) == (False, "complete")


def test_the_list_of_tools_may_be_cached_privately_for_a_minute(ada_mcp: McpClient) -> None:
    result = send_modern(ada_mcp, "tools/list").body["result"]
    assert (result["cacheScope"], result["ttlMs"]) == ("private", 60_000)


def test_the_tools_are_the_same_in_both_eras(ada_mcp: McpClient) -> None:
    assert send_modern(ada_mcp, "tools/list").body["result"]["tools"] == ada_mcp.tools()


def test_headers_that_contradict_the_body_are_refused(ada_mcp: McpClient) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hub", "_meta": META}}
    for headers in (
        {"mcp-protocol-version": MODERN, "mcp-method": "tools/list"},
        {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "decision"},
    ):
        assert ada_mcp.send("POST", "/mcp", message, headers).status == 400


@pytest.mark.parametrize("era", ["earlier", "later"])
def test_a_request_id_is_read_in_both_eras(ada_mcp: McpClient, era: str) -> None:
    meta = {"ctxhub/request_id": "r-1"}
    for value in ("first", "second"):
        arguments = {"action": "set", "key": "k", "value": value}
        if era == "later":
            send_modern(ada_mcp, "tools/call", meta, name="decision", arguments=arguments)
        else:
            ada_mcp.result("decision", arguments, meta)
    assert ada_mcp.call("decision", "get", key="k")["decision"]["value"] == "first"
