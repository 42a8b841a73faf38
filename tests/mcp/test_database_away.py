"""`/mcp` while the database is unavailable: status 503, a message, and one line in the log."""

from typing import Any

import anyio
import pytest
from django.db import OperationalError
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from ctxhub.core.events import mail
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import AWAY, NOTHING_WRITTEN
from ctxhub.core.models import Project
from memory.models import Decision
from tests.databases import database_away
from tests.hub import LiveHub, McpClient, Reply

PING = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
VERSIONS: dict[str, dict[str, str]] = {
    "2025-11-25": {"Mcp-Protocol-Version": "2025-11-25"},
    "2026-07-28": {
        "Mcp-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "decision",
    },
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def call_decision(client: McpClient, version: str, **arguments: Any) -> Reply:
    meta = {"_meta": META} if version == "2026-07-28" else {}
    params = {"name": "decision", "arguments": arguments, **meta}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    return client.send("POST", "/mcp", message, VERSIONS[version])


def is_away(reply: Reply, request_id: int | None) -> bool:
    error = reply.body["error"]
    assert (reply.status, reply.headers["retry-after"]) == (503, "5")
    assert (reply.body["jsonrpc"], reply.body["id"]) == ("2.0", request_id)
    assert (error["code"], error["message"]) == (
        -32603,
        f"{AWAY} {NOTHING_WRITTEN}",
    )
    expected = {"error": "internal", "message": error["message"], "retry_after": 5}
    return bool(error["data"] == expected)


def is_one_line(caplog: pytest.LogCaptureFixture) -> bool:
    # A thread that waits for events may notice, too.
    [record] = [each for each in caplog.records if not each.getMessage().startswith("watching the events")]
    return record.exc_info is None and "\n" not in record.getMessage()


def test_authentication_fails_while_the_database_is_unavailable(
    ada_mcp: McpClient, caplog: pytest.LogCaptureFixture
) -> None:
    with database_away():
        reply = ada_mcp.send("POST", "/mcp", PING)
    assert is_away(reply, None)
    assert is_one_line(caplog)
    assert ada_mcp.rpc("ping")["result"] == {}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("action", [{"action": "set", "value": "x"}, {"action": "get"}], ids=["set", "get"])
def test_a_call_fails_while_the_database_is_unavailable(
    ada_mcp: McpClient, version: str, action: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    assert call_decision(ada_mcp, version, action="get", key="k").status == 200
    with database_away():
        reply = call_decision(ada_mcp, version, key="k", **action)
    assert is_away(reply, 7)
    assert is_one_line(caplog)
    assert call_decision(ada_mcp, version, key="k", **action).status == 200


def test_a_page_of_an_allowed_origin_may_read_the_error(ada_mcp: McpClient, settings: Any) -> None:
    settings.CORS_ORIGINS = ["https://app.example"]
    with database_away():
        reply = ada_mcp.send("POST", "/mcp", PING, {"Origin": "https://app.example"})
    assert reply.status == 503
    assert "Retry-After" in reply.headers["access-control-expose-headers"]


def test_the_sdk_client_reads_the_message(hub: LiveHub, ada_token: str) -> None:
    async def session() -> None:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {ada_token}"}) as http,
            Client(streamable_http_client(f"{hub.url}/mcp", http_client=http)) as client,
        ):
            with pytest.raises(MCPError, match="The database does not answer") as refused:
                await client.call_tool("decision", {"action": "get", "key": "k"})
            assert refused.value.data["retry_after"] == 5

    hub.mcp(ada_token).call("decision", "get", key="k")
    with database_away():
        anyio.run(session)


def test_a_completed_write_is_not_reported_as_failed(
    ada_mcp: McpClient, apollo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database becomes unavailable between a write and the count of urgent messages in its answer."""

    def fail(caller: Caller) -> int:
        raise OperationalError("gone")

    monkeypatch.setattr(mail, "urgent", [fail])
    assert ada_mcp.call("decision", "set", key="k", value="x")["result"] == "created"
    assert Decision.objects.in_project(apollo).filter(key="k").exists()
