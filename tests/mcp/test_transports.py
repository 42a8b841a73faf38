"""What a transport alone decides: lines of the table in docs/architecture.md."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from ctxhub.core.kit.caller import Caller
from ctxhub.mcp.json_size import MOST_VALUES
from ctxhub.toolbox import dispatch
from tests.hub import McpClient, Reply
from tests.mcp.transcript import META, MODERN, Message, call, hello, notification, request
from tests.stdio import answered

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_engine]

LATER_HEADERS = {"mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
Stdio = Callable[..., list[Message]]


@pytest.fixture
def stdio(ada: Caller, tmp_path: Path) -> Stdio:
    def send(*messages: Any) -> list[Message]:
        return answered(ada, map(json.dumps, messages), tmp_path)

    return send


def post(client: McpClient, message: Any, headers: dict[str, str] | None = None) -> Reply:
    return client.send("POST", "/mcp", message, headers)


def code(answer: Message) -> int | None:
    found: int | None = answer.get("error", {}).get("code")
    return found


def test_the_first_request_or_a_header_chooses_the_era(stdio: Stdio, ada_mcp: McpClient) -> None:
    later, earlier = request("tools/list", {"_meta": META}), request("tools/list")
    assert [code(answer) for answer in stdio(later, earlier, hello())] == [None, -32602, -32022]
    assert [code(answer) for answer in stdio(hello(), earlier, later)] == [None, None, -32600]
    assert "resultType" in post(ada_mcp, later, LATER_HEADERS).body["result"]
    assert "resultType" not in post(ada_mcp, later).body["result"]


def test_http_needs_no_handshake(stdio: Stdio, ada_mcp: McpClient) -> None:
    assert [code(answer) for answer in stdio(request("tools/list"))] == [-32602]
    assert post(ada_mcp, request("tools/list")).body["result"]["tools"]


def test_a_notification_has_a_status_over_http(stdio: Stdio, ada_mcp: McpClient) -> None:
    initialized = notification("notifications/initialized")
    assert stdio(initialized) == []
    assert (post(ada_mcp, initialized).status, post(ada_mcp, initialized).body) == (202, "")


def test_what_is_no_message_has_a_status_over_http(stdio: Stdio, ada_mcp: McpClient) -> None:
    wrong = {"jsonrpc": "2.0", "id": 7}
    assert [(code(answer), answer["id"]) for answer in stdio(wrong)] == [(-32600, 7)]
    for headers in (None, {**LATER_HEADERS}):
        reply = post(ada_mcp, {**wrong, "params": {"_meta": META}}, headers)
        assert (reply.status, code(reply.body), reply.body["id"]) == (400, -32600, 7)


OF_BATCHES = "2025-03-26"


def test_a_batch_is_answered_in_the_version_that_has_batches(stdio: Stdio, ada_mcp: McpClient) -> None:
    bad = {"jsonrpc": "2.0", "id": None, "method": "ping"}
    wait = call("hub", {"action": "wait", "wait_seconds": 60})
    batch = [request("ping"), notification("notifications/initialized"), bad, call("hub"), wait]
    [_, over_stdio] = stdio(hello(OF_BATCHES), batch[:-1])
    over_http = post(ada_mcp, batch[:-1], {"mcp-protocol-version": OF_BATCHES})
    assert (over_http.status, over_http.body) == (200, over_stdio)
    ids = [batch[0]["id"], None, batch[3]["id"]]
    assert [answer["id"] for answer in over_http.body] == ids
    assert [code(answer) for answer in over_http.body] == [None, -32600, None]
    assert post(ada_mcp, batch[:1]).body[0]["result"] == {}  # Without a header it is this version.
    [_, with_a_wait] = stdio(hello(OF_BATCHES), batch)
    assert len(with_a_wait) == 4
    note = notification("notifications/initialized")
    assert post(ada_mcp, [note, note]).status == 202
    assert len(stdio(hello(OF_BATCHES), [note, note])) == 1


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25", MODERN])
def test_a_batch_is_refused_in_other_versions(stdio: Stdio, ada_mcp: McpClient, version: str) -> None:
    batch = [request("ping"), request("ping")]
    reply = post(ada_mcp, batch, {"mcp-protocol-version": version})
    assert (reply.status, code(reply.body), reply.body["id"]) == (400, -32600, None)
    assert f"Only version {OF_BATCHES}" in reply.body["error"]["message"]
    if version != MODERN:
        assert [code(answer) for answer in stdio(hello(version), batch)] == [None, -32600]


@pytest.mark.parametrize(
    ("batch", "why"),
    [([], "1 to 50"), ([request("ping")] * 51, "has 51"), ([hello(), request("ping")], "initialize")],
)
def test_a_batch_that_is_none_is_refused(
    stdio: Stdio, ada_mcp: McpClient, batch: list[Message], why: str
) -> None:
    reply = post(ada_mcp, batch, {"mcp-protocol-version": OF_BATCHES})
    assert (reply.status, code(reply.body)) == (400, -32600)
    assert why in reply.body["error"]["message"]
    assert stdio(hello(OF_BATCHES), batch)[1]["error"] == reply.body["error"]


def test_many_values_are_refused_over_http(stdio: Stdio, ada_mcp: McpClient) -> None:
    many = request("ping", {"x": [0] * (MOST_VALUES + 1)})
    assert stdio(many)[0]["result"] == {}
    assert post(ada_mcp, many).status == 400


def test_an_outage_is_a_result_or_a_status(
    stdio: Stdio, ada_mcp: McpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(dispatch, "call", fail)
    [_, answer] = stdio(hello(), call("hub"))
    assert answer["result"]["isError"] is True
    assert "does not answer" in answer["result"]["content"][0]["text"]
    reply = post(ada_mcp, call("hub"))
    assert (reply.status, code(reply.body), reply.headers["retry-after"]) == (503, -32603, "5")
