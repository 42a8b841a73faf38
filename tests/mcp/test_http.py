"""`/mcp` over HTTP: authentication, Host and Origin, methods, bodies and agents."""

import http.client
import json
import socket
from typing import Any

import pytest
from pytest_django import Settings

from ctxhub.core.accounts.access_tokens import create_token, revoke_token
from ctxhub.core.models import Project
from ctxhub.mcp import request_bodies
from tests.hub import LiveHub, McpClient, Reply, RestClient
from tests.stored_names import invisible_names
from tests.timing import PATIENCE_SECONDS

pytestmark = pytest.mark.one_engine

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def text_of(reply: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(reply.body["result"]["content"][0]["text"])
    return answer


def code_of(reply: Reply) -> str:
    """The error code in the data of a JSON-RPC error, whose message is a sentence."""
    body, error = reply.body, reply.body["error"]
    assert (body["jsonrpc"], error["code"]) == ("2.0", -32600)
    assert error["message"].startswith(error["data"]["message"])
    assert error["message"].endswith(error["data"].get("hint", ""))
    code: str = error["data"]["error"]
    return code


# -- Tokens ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS", "PUT"])
def test_a_request_without_a_token_is_unauthorized(hub: LiveHub, method: str) -> None:
    reply = hub.http().send(method, "/mcp", PING)
    assert (reply.status, code_of(reply)) == (401, "not_allowed")
    assert reply.headers["www-authenticate"].startswith("Bearer")
    assert "resource_metadata" not in reply.headers["www-authenticate"]


@pytest.mark.parametrize(
    "header", ["Basic YTpi", "Bearer", "Bearer ", "ctx_abc", "Bearer ctx_unknown", "bearer \xff"]
)
def test_an_invalid_authorization_is_refused(hub: LiveHub, header: str) -> None:
    reply = hub.http().send("POST", "/mcp", PING, {"Authorization": header})
    assert (reply.status, code_of(reply)) == (401, "not_allowed")


@pytest.mark.parametrize("token", ["${CTXHUB_TOKEN}", "${env:CTXHUB_TOKEN}"])
def test_an_unexpanded_variable_as_token_is_named_in_the_error(hub: LiveHub, token: str) -> None:
    reply = hub.mcp(token).send("POST", "/mcp", PING)
    assert reply.status == 401
    assert token in reply.body["error"]["message"]
    assert "environment" in reply.body["error"]["message"]


def test_a_revoked_token_is_refused_at_once(hub: LiveHub, apollo: Project) -> None:
    token = create_token(project=apollo, agent="ada")
    client = hub.mcp(token.secret)
    assert client.rpc("ping")["result"] == {}
    revoke_token(token.row)
    assert client.send("POST", "/mcp", PING).status == 401


# -- What is not there -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration/mcp",
        "/mcp/.well-known/openid-configuration",
        "/register",
        "/authorize",
        "/token",
    ],
)
def test_clients_that_look_for_oauth_are_told_that_tokens_are_static(
    hub: LiveHub, method: str, path: str
) -> None:
    reply = hub.http().send(method, path, headers={"Accept": "text/html"})
    assert (reply.status, reply.headers["content-type"]) == (404, "application/json")
    if method != "HEAD":
        assert (reply.body["error"], "static tokens only" in reply.body["message"]) == ("not_found", True)
        assert "Authorization: Bearer" in reply.body["hint"]
        assert len(json.dumps(reply.body)) < 200


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path", ["/.well-known/security.txt", "/.well-known/", "/MCP", "/mcp/x", "/api", "/API/v1/", "/api/v1/x"]
)
def test_what_is_not_there_is_told_in_json_whatever_is_asked_for(
    hub: LiveHub, method: str, path: str
) -> None:
    reply = hub.http().send(method, path, headers={"Accept": "text/html"})
    assert (reply.status, reply.headers["content-type"]) == (404, "application/json")
    assert reply.body["error"] == "not_found"
    assert path in reply.body["message"]


def test_an_object_that_is_not_there_is_told_in_json_to_browsers(ada_rest: RestClient) -> None:
    reply = ada_rest.send("GET", ada_rest._url("decisions/never-set/"), headers={"Accept": "text/html"})
    assert (reply.status, reply.headers["content-type"]) == (404, "application/json")
    assert reply.body["error"] == "not_found"


# -- Host and Origin -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "[::2]", "", "a b"]
)
def test_an_unknown_host_is_misdirected(hub: LiveHub, ada_token: str, host: str) -> None:
    reply = hub.http(ada_token).send("POST", "/mcp", PING, {"Host": host})
    assert (reply.status, code_of(reply)) == (421, "not_allowed")


@pytest.mark.parametrize("host", ["localhost", "localhost:1234", "127.0.0.1:80", "LOCALHOST"])
def test_an_allowed_host_is_served_on_any_port(hub: LiveHub, ada_token: str, host: str) -> None:
    assert hub.http(ada_token).send("POST", "/mcp", PING, {"Host": host}).status == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://[", "localhost", "https://localhost.evil.example"]
)
def test_an_unknown_origin_is_forbidden(hub: LiveHub, ada_token: str, origin: str) -> None:
    reply = hub.http(ada_token).send("POST", "/mcp", PING, {"Origin": origin})
    assert (reply.status, code_of(reply)) == (403, "not_allowed")


def test_an_allowed_origin_is_served(hub: LiveHub, ada_token: str, settings: Settings) -> None:
    settings.CORS_ORIGINS = ["https://app.example"]
    for origin in ("http://localhost:3000", "https://app.example"):
        assert hub.http(ada_token).send("POST", "/mcp", PING, {"Origin": origin}).status == 200


def test_an_allowed_origin_gets_cors_headers_on_preflight_and_answer(
    hub: LiveHub, ada_token: str, settings: Settings
) -> None:
    settings.CORS_ORIGINS = ["https://app.example"]
    origin = {"Origin": "https://app.example"}
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    allowed = hub.http().send("OPTIONS", "/mcp", headers={**origin, **preflight})
    assert (allowed.status, allowed.headers["access-control-allow-origin"]) == (204, "https://app.example")
    assert {"Authorization", "Mcp-Method"} <= set(allowed.headers["access-control-allow-headers"].split(", "))
    for token, status in ((ada_token, 200), (None, 401)):
        reply = hub.http(token).send("POST", "/mcp", PING, origin)
        assert (reply.status, reply.headers["access-control-allow-origin"]) == (status, origin["Origin"])


def test_other_origins_get_no_cors_headers(hub: LiveHub, ada_token: str, settings: Settings) -> None:
    settings.CORS_ORIGINS = ["https://app.example"]
    preflight = {"Access-Control-Request-Method": "POST"}
    for origin in ("https://evil.example", "http://localhost:3000"):
        reply = hub.http().send("OPTIONS", "/mcp", headers={"Origin": origin, **preflight})
        assert reply.status in (401, 403)
        assert "access-control-allow-origin" not in reply.headers


# -- Methods, paths, bodies ------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_the_path_is_served_with_and_without_a_slash(ada_mcp: McpClient, path: str) -> None:
    assert ada_mcp.send("POST", path, PING).body == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD"])
def test_methods_other_than_post_are_not_allowed(ada_mcp: McpClient, method: str) -> None:
    reply = ada_mcp.send(method, "/mcp")
    assert (reply.status, reply.headers["allow"]) == (405, "POST")
    assert method == "HEAD" or code_of(reply) == "invalid"


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled"])
def test_a_notification_is_accepted_without_an_answer(ada_mcp: McpClient, method: str) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": {"requestId": 1}}
    reply = ada_mcp.send("POST", "/mcp", message)
    assert (reply.status, reply.body) == (202, "")


def test_a_body_of_5_mb_is_read_and_a_longer_one_refused(ada_mcp: McpClient) -> None:
    sizes = {5 * 1024 * 1024: 200, 5 * 1024 * 1024 + 128 * 1024: 413}
    for size, status in sizes.items():
        arguments = {"action": "set", "key": "k", "value": "x" * size}
        message = {**PING, "method": "tools/call", "params": {"name": "decision", "arguments": arguments}}
        reply = ada_mcp.send("POST", "/mcp", message)
        assert reply.status == status
    assert code_of(reply) == "invalid"
    assert "5,308,416 bytes" in reply.body["error"]["message"]


def test_a_body_that_is_not_sent_in_time_is_refused(
    hub: LiveHub, ada_token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_bodies, "SECONDS_TO_SEND", 0.2)
    with socket.create_connection(("127.0.0.1", hub.port), timeout=PATIENCE_SECONDS) as client:
        head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ada_token}\r\n"
        client.sendall(f"{head}Content-Length: 10\r\n\r\n{{".encode())
        response = http.client.HTTPResponse(client)
        response.begin()
        reply = Reply(response.status, {}, json.loads(response.read()))
    assert (reply.status, code_of(reply)) == (408, "invalid")


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28", "1999-01-01", ""])
@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Content-Type", "text/plain", 415),
        ("Content-Type", "application/jsonx", 415),
        ("Content-Type", "", 415),
        ("Accept", "text/html", 406),
    ],
)
def test_other_media_types_are_refused_with_the_right_header(
    ada_mcp: McpClient, version: str, header: str, value: str, status: int
) -> None:
    named = {"Mcp-Protocol-Version": version} if version else {}
    reply = ada_mcp.send("POST", "/mcp", {**PING, "id": "x"}, {header: value, **named})
    assert (reply.status, code_of(reply), reply.body["id"]) == (status, "invalid", "x")
    assert f"Send the header {header}: application/json" in reply.body["error"]["message"]


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Content-Type", "application/json; charset=utf-8"),
        ("Content-Type", 'APPLICATION/Json;Charset="UTF-8"'),
        ("Accept", "*/*"),
        ("Accept", ""),
        ("Accept", "application/json"),
        ("Accept", "Application/JSON;q=0.5;v=1"),
        ("Accept", "application/*"),
        ("Accept", "text/html, text/event-stream;q=0.9, */*;q=0.1"),
        ("Accept", "application/json;q=high"),
    ],
)
def test_json_media_types_are_served(ada_mcp: McpClient, header: str, value: str) -> None:
    reply = ada_mcp.send("POST", "/mcp", PING, {header: value})
    assert (reply.body["result"], reply.headers["content-type"]) == ({}, "application/json")


def test_without_accept_any_type_is_taken(hub: LiveHub, ada_token: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=PATIENCE_SECONDS)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {ada_token}"}
    connection.request("POST", "/mcp", json.dumps(PING), headers)
    response = connection.getresponse()
    assert (response.status, json.loads(response.read())["result"]) == (200, {})
    connection.close()


@pytest.mark.parametrize("accept", ["text/event-stream", "TEXT/*", "application/json;q=0, */*"])
def test_who_takes_events_alone_gets_the_answer_as_the_only_event(ada_mcp: McpClient, accept: str) -> None:
    reply = ada_mcp.send("POST", "/mcp", PING, {"Accept": accept})
    assert (reply.status, reply.headers["content-type"]) == (200, "text/event-stream")
    event, data, *end = reply.body.split("\n")
    assert (event, end) == ("event: message", ["", ""])
    assert json.loads(data.removeprefix("data: ")) == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("accept", ["application/json;q=0", "application/*;q=0.0, text/html", "*/*;q=0"])
def test_a_quality_of_nought_refuses_a_type(ada_mcp: McpClient, accept: str) -> None:
    assert ada_mcp.send("POST", "/mcp", PING, {"Accept": accept}).status == 406


@pytest.mark.parametrize(
    ("header", "value", "said"),
    [
        ("Content-Type", "application/json; charset=utf-16", "The body is in utf-16."),
        ("Content-Type", "application/json; Charset=latin-1", "The body is in latin-1."),
        ("Content-Encoding", "gzip", "The body is compressed (gzip)."),
    ],
)
def test_other_encodings_are_refused_by_name(ada_mcp: McpClient, header: str, value: str, said: str) -> None:
    reply = ada_mcp.send("POST", "/mcp", PING, {header: value})
    assert (reply.status, code_of(reply)) == (415, "invalid")
    assert said in reply.body["error"]["message"]


def test_a_body_in_chunks_is_read(ada_mcp: McpClient) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in json.dumps(PING).encode()) + b"0\r\n\r\n"
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ada_mcp.token}\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", ada_mcp.port), timeout=PATIENCE_SECONDS) as client:
        client.sendall(head.encode() + chunks)
        response = http.client.HTTPResponse(client)
        response.begin()
        assert json.loads(response.read())["result"] == {}


@pytest.mark.parametrize("session", ["never-made", "", "a" * 1000])
def test_a_session_id_of_the_transport_is_ignored(ada_mcp: McpClient, session: str) -> None:
    reply = ada_mcp.send("POST", "/mcp", PING, {"Mcp-Session-Id": session})
    assert (reply.status, reply.body["result"]) == (200, {})
    assert "mcp-session-id" not in reply.headers


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("body", "request_id"),
    [(b"{nope", None), (b"", None), (b"[]", None), (b'{"id":7}', 7), (b'{"jsonrpc":"2.0","id":{}}', None)],
)
def test_a_body_that_is_no_message_is_refused_with_a_one_line_error(
    ada_mcp: McpClient, version: str, body: bytes, request_id: int | None
) -> None:
    reply = ada_mcp.send("POST", "/mcp", body, {"Mcp-Protocol-Version": version})
    assert (reply.status, reply.body["jsonrpc"]) == (400, "2.0")
    assert "\n" not in reply.body["error"]["message"]
    assert version == "2026-07-28" or reply.body["id"] == request_id


def test_an_unknown_method_is_a_protocol_error(ada_mcp: McpClient) -> None:
    assert ada_mcp.rpc("nothing/there")["error"]["code"] == -32601


def test_arguments_that_are_no_object_are_a_protocol_error(ada_mcp: McpClient) -> None:
    assert ada_mcp.rpc("tools/call", {"name": "decision", "arguments": []})["error"]["code"] == -32602


def test_an_internal_error_reveals_no_details(ada_mcp: McpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory.decisions import queries as decisions

    monkeypatch.setattr(decisions, "find_decision", lambda *_: 1 / 0)
    result = ada_mcp.result("decision", {"action": "get", "key": "k"})
    assert result["isError"] is True
    assert json.loads(result["content"][0]["text"])["error"] == "internal"
    assert "Zero" not in str(result)


def test_every_answer_states_its_tokens(ada_mcp: McpClient) -> None:
    result = ada_mcp.result("hub", {"action": "stats"})
    assert result["_meta"]["ctxhub/tokens"] >= 10
    assert ada_mcp.result("hub", {"action": "nothing"})["_meta"]["ctxhub/tokens"] >= 10


def test_texts_are_not_escaped_and_not_padded(ada_mcp: McpClient) -> None:
    ada_mcp.call("decision", "set", key="menü", value="日本語 👩‍👧")
    text = ada_mcp.result("decision", {"action": "get", "key": "menü"})["content"][0]["text"]
    assert '"value":"日本語 👩‍👧","version"' in text


# -- Agents ----------------------------------------------------------------------------------------


def test_a_pinned_token_refuses_another_agent(ada_mcp: McpClient) -> None:
    assert ada_mcp.call("decision", "set", key="k", value="x", agent="ben")["error"] == "not_allowed"
    assert ada_mcp.send("POST", "/mcp", PING, {"Ctxhub-Agent": "ben"}).status == 403
    assert ada_mcp.call("decision", "set", key="k", value="x", agent="ADA")["result"] == "created"


def test_an_unpinned_token_acts_for_any_agent_by_header_or_argument(hub: LiveHub, apollo: Project) -> None:
    token = create_token(project=apollo, name="laptop").secret
    hub.mcp(token).call("decision", "set", key="a", value="x")
    hub.mcp(token, **{"Ctxhub-Agent": "zoe"}).call("decision", "set", key="b", value="x")
    hub.mcp(token, **{"Ctxhub-Agent": "zoe"}).call("decision", "set", key="c", value="x", agent="yan")
    agents = {row["key"]: row["agent"] for row in hub.mcp(token).rows("decision", "list")}
    assert agents == {"a": "laptop", "b": "zoe", "c": "yan"}


@pytest.mark.parametrize(
    ("path", "headers", "agent"),
    [
        ("/mcp?client=codex", {}, "codex"),
        ("/mcp", {"Ctxhub-Client": "codex"}, "codex"),
        ("/mcp/?client=Zo%C3%AB", {}, "Zoë"),
        ("/mcp?client=codex", {"Ctxhub-Agent": "zoe"}, "zoe"),
        ("/mcp?client=codex", {"Ctxhub-Agent": " "}, "codex"),
        ("/mcp?client=&other=codex", {}, "laptop"),
    ],
)
def test_address_or_header_may_name_the_client_as_which_an_unpinned_token_speaks(
    hub: LiveHub, apollo: Project, path: str, headers: dict[str, str], agent: str
) -> None:
    client = hub.mcp(create_token(project=apollo, name="laptop").secret, **headers)
    client.path = path
    client.call("decision", "set", key="a", value="x")
    assert client.rows("decision", "list")[0]["agent"] == agent


@pytest.mark.parametrize(
    ("path", "headers"), [("/mcp?client=codex", {}), ("/mcp", {"Ctxhub-Client": "codex"})]
)
def test_a_pinned_token_keeps_its_agent_whatever_client_is_named(
    ada_mcp: McpClient, path: str, headers: dict[str, str]
) -> None:
    ada_mcp.path, ada_mcp.headers = path, headers
    ada_mcp.call("decision", "set", key="a", value="x")
    assert ada_mcp.rows("decision", "list")[0]["agent"] == "ada"


@pytest.mark.parametrize("name", ["a" * 101, "$%7BNAME%7D", "%00"])
def test_a_client_in_the_address_that_is_no_name_is_refused(hub: LiveHub, apollo: Project, name: str) -> None:
    token = create_token(project=apollo, name="laptop").secret
    reply = hub.mcp(token).send("POST", f"/mcp?client={name}", PING)
    assert (reply.status, code_of(reply)) == (400, "invalid")
    assert "client in the address" in str(reply.body)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_an_agents_name_in_the_header_may_have_accents(hub: LiveHub, apollo: Project, encoding: str) -> None:
    token = create_token(project=apollo, name="laptop").secret
    header = "Zoë".encode(encoding).decode("latin-1")
    hub.mcp(token, **{"Ctxhub-Agent": header}).call("decision", "set", key="a", value="x")
    assert hub.mcp(token).rows("decision", "list")[0]["agent"] == "Zoë"


def test_a_header_too_long_for_a_name_is_refused(hub: LiveHub, apollo: Project) -> None:
    token = create_token(project=apollo, name="laptop").secret
    reply = hub.mcp(token).send("POST", "/mcp", PING, {"Ctxhub-Agent": "a" * 101})
    assert (reply.status, code_of(reply)) == (400, "invalid")


@pytest.mark.parametrize("accept", ["application/json, text/event-stream", "text/event-stream, */*"])
def test_an_answer_is_a_json_body_and_no_stream(ada_mcp: McpClient, accept: str) -> None:
    """No line of an event can be split by the separators of Unicode, which a text may hold."""
    value = "before\u2028after\u2029\u0085end"
    ada_mcp.call("decision", "set", key="ls/1", value=value)
    params = {"name": "decision", "arguments": {"action": "get", "key": "ls/1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    reply = ada_mcp.send("POST", "/mcp", message, {"Accept": accept})
    assert reply.headers["content-type"].startswith("application/json")
    text = reply.body["result"]["content"][0]["text"]
    assert json.loads(text)["decision"]["value"] == value


@pytest.mark.parametrize("header", ["Ctxhub-Agent", "Ctxhub-Client", "Ctxhub-Session"])
def test_a_name_in_a_header_holds_nothing_that_nobody_sees(
    hub: LiveHub, apollo: Project, header: str
) -> None:
    token = create_token(project=apollo, name="laptop").secret

    def sent(name: str) -> McpClient:
        return hub.mcp(token, **{header: name.encode().decode("latin-1")})

    reply = sent("be\u200bn").send("POST", "/mcp", PING)
    assert (reply.status, code_of(reply)) == (400, "invalid")
    assert f"{header} holds U+200B ZERO WIDTH SPACE" in str(reply.body)
    sent("ben\u200b").call("decision", "set", key="a", value="x")
    assert invisible_names() == []
