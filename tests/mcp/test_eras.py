"""Both eras of the protocol at one URL: a handshake until 2025-11-25, none from 2026-07-28."""

import json
from http.client import HTTPConnection
from typing import Any

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.toolbox.instructions import instructions
from tests.hub import LiveHub, McpClient, Reply
from tests.timing import PATIENCE_SECONDS

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


SERVED = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN]


@pytest.mark.parametrize("named", ["2027-01-01", MODERN, "2025-06-18", "nonsense"])
@pytest.mark.parametrize("offered", ["2027-01-01", "2025-06-18"])
def test_a_handshake_negotiates_whatever_the_header_names(
    ada_mcp: McpClient, named: str, offered: str
) -> None:
    info = {"name": "tests", "version": "1"}
    params = {"protocolVersion": offered, "capabilities": {}, "clientInfo": info}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    reply = ada_mcp.send("POST", "/mcp", message, {"Mcp-Protocol-Version": named})
    assert reply.status == 200
    negotiated = reply.body["result"]["protocolVersion"]
    assert negotiated == (offered if offered in SERVED else "2025-11-25")


@pytest.mark.parametrize("message", [{"id": 1, "method": "ping"}, {"method": "notifications/initialized"}])
def test_a_version_in_the_header_that_is_not_served_is_refused_by_name(
    ada_mcp: McpClient, message: dict[str, Any]
) -> None:
    reply = ada_mcp.send(
        "POST", "/mcp", {"jsonrpc": "2.0", **message}, {"Mcp-Protocol-Version": "2027-01-01"}
    )
    assert (reply.status, reply.body["id"]) == (400, message.get("id"))
    error = reply.body["error"]
    assert (error["code"], error["data"]) == (-32022, {"supported": SERVED, "requested": "2027-01-01"})
    assert all(word in error["message"] for word in ("MCP-Protocol-Version", "'2027-01-01'", *SERVED))


def test_a_later_client_is_told_the_versions_that_it_can_use(ada_mcp: McpClient) -> None:
    """Those of a handshake, which it does not know, are no help to it."""
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}
    reply = ada_mcp.send("POST", "/mcp", message, {"Mcp-Protocol-Version": "2027-01-01"})
    assert (reply.status, reply.body["error"]["code"]) == (400, -32022)
    assert reply.body["error"]["data"] == {"supported": [MODERN], "requested": "2027-01-01"}


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe"])
def test_what_the_later_era_has_removed_is_not_found(ada_mcp: McpClient, method: str) -> None:
    reply = send_modern(ada_mcp, method)
    assert (reply.status, reply.body["error"]["code"]) == (404, -32601)


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
    for header, headers in {
        "Mcp-Method": {"mcp-method": "tools/list"},
        "Mcp-Name": {"mcp-method": "tools/call", "mcp-name": "decision"},
    }.items():
        reply = ada_mcp.send("POST", "/mcp", message, {"mcp-protocol-version": MODERN, **headers})
        assert (reply.status, reply.body["id"], reply.body["error"]["code"]) == (400, 1, -32020)
        assert f"The header {header} names" in reply.body["error"]["message"]


def test_a_name_in_the_header_may_be_in_base64(ada_mcp: McpClient) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hub", "_meta": META}}
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call"}
    for name, status in (("=?base64?aHVi?=", 200), ("=?base64?aHV?=", 400), ("=?base64?ZGVj?=", 400)):
        assert ada_mcp.send("POST", "/mcp", message, {**headers, "mcp-name": name}).status == status


@pytest.mark.parametrize("header", ["Mcp-Protocol-Version", "Mcp-Method"])
def test_a_header_of_the_protocol_that_comes_twice_is_refused(
    hub: LiveHub, ada_token: str, header: str
) -> None:
    connection = HTTPConnection("127.0.0.1", hub.port, timeout=PATIENCE_SECONDS)
    connection.putrequest("POST", "/mcp")
    for value in (MODERN, "2025-06-18"):
        connection.putheader(header, value)
    connection.putheader("Content-Length", "0")
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 400
    assert header in response.read().decode()
    connection.close()


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
