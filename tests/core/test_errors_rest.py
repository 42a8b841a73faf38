"""Errors over REST: one format of body, the right status, no traceback, nothing written."""

import logging
import socket

import pytest
from django.db import OperationalError

from ctxhub.core.hub import overview
from ctxhub.core.models import Event, Project
from tests.hub import LiveHub, Reply, RestClient

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
PATHS = ["decisions/", "decisions/batch/", "layers/", "call/decision/set/", "/api/v1/tokens/"]


def send(client: RestClient, path: str, body: bytes, **headers: str) -> Reply:
    return client.send("POST", client._url(path), body, headers)


def is_refused(reply: Reply, status: int = 400) -> bool:
    keys = set(reply.body)
    return reply.status == status and reply.body["error"] == "invalid" and {"error", "message"} <= keys


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"key": "k", "value": NaN}',
        b'{"key": "\xff", "value": 1}',
        b"[" * 100_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"key": "k", "value": ' + b"1" * 5_000 + b"}",
        b"[]",
        b'"text"',
        b"5",
        b"null",
        b'{"\\ud800": 1}',
    ],
    ids=lambda body: body[:20],
)
def test_a_body_that_is_no_object_is_invalid(
    ada_rest: RestClient, apollo: Project, path: str, body: bytes
) -> None:
    assert is_refused(send(ada_rest, path, body))
    assert not Event.objects.in_project(apollo).exists()


def test_no_body_is_an_empty_object(ada_rest: RestClient) -> None:
    reply = send(ada_rest, "decisions/", b"")
    assert is_refused(reply)
    assert reply.body["missing"] == ["key", "value"]


def test_a_body_beyond_five_megabytes_is_413(ada_rest: RestClient, apollo: Project) -> None:
    body = b'{"key": "k", "value": "' + b"x" * (5 * 1024 * 1024) + b'"}'
    reply = send(ada_rest, "decisions/", body)
    assert is_refused(reply, 413)
    assert "5,242,880" in reply.body["message"]


def test_a_body_in_chunks_is_read(hub: LiveHub, ada_token: str) -> None:
    head = (
        "POST /api/v1/projects/apollo/decisions/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {ada_token}\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", hub.port)) as wire:
        wire.sendall(head.encode() + b'18\r\n{"key": "k", "value": 1}\r\n0\r\n\r\n')
        assert wire.recv(20).startswith(b"HTTP/1.1 201")


def test_another_media_type_is_415(ada_rest: RestClient) -> None:
    reply = send(ada_rest, "decisions/", b"key=k&value=1", **FORM)
    assert is_refused(reply, 415)
    assert "application/json" in reply.body["hint"]


@pytest.mark.parametrize("charset", ["hex", "utf-16", "rot13", "no-such"])
def test_json_is_utf_8_whatever_the_header_says(ada_rest: RestClient, charset: str) -> None:
    content_type = {"Content-Type": f"application/json; charset={charset}"}
    assert send(ada_rest, "decisions/", b'{"key": "k", "value": "\xc3\xa9"}', **content_type).status == 201
    assert ada_rest.get("decisions/k/").body["value"] == "é"


def test_accepting_only_another_media_type_is_406(ada_rest: RestClient) -> None:
    reply = ada_rest.send("GET", "/api/v1/projects/", headers={"Accept": "application/xml"})
    assert is_refused(reply, 406)


def test_an_unknown_format_is_invalid(ada_rest: RestClient) -> None:
    assert is_refused(ada_rest.get("decisions/", format="rows"))
    assert ada_rest.get("decisions/", format="json").status == 200


@pytest.mark.parametrize("method", ["PUT", "OPTIONS", "TRACE"])
def test_an_unsupported_method_is_405(ada_rest: RestClient, method: str) -> None:
    reply = ada_rest.send(method, ada_rest._url("stats/"), {} if method == "PUT" else None)
    assert is_refused(reply, 405)
    assert reply.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ["/api/", "/api/v1/", "/api/v2/x/", "/api/v1/projects/apollo/nothing/"])
def test_an_unknown_address_is_404_in_json(ada_rest: RestClient, method: str, path: str) -> None:
    reply = ada_rest.send(method, path, None if method == "GET" else {})
    assert (reply.status, reply.body["error"]) == (404, "not_found")


def test_a_missing_slash_redirects_a_read_and_is_hinted_at_for_a_write(ada_rest: RestClient) -> None:
    reading = ada_rest.get("/api/v1/projects/apollo/decisions?limit=1")
    assert (reading.status, reading.headers["location"][-19:]) == (301, "/decisions/?limit=1")
    writing = ada_rest.post("/api/v1/projects/apollo/decisions", {})
    assert (writing.status, writing.body["hint"]) == (404, "End the address with a slash.")


def test_an_internal_error_reveals_no_details(
    ada_rest: RestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(project_id: int) -> None:
        raise RuntimeError("SELECT secret FROM table")

    monkeypatch.setattr(overview, "count_all", fail)
    with caplog.at_level(logging.ERROR):
        reply = ada_rest.get("stats/")
    assert (reply.status, reply.body["error"]) == (500, "internal")
    assert "secret" not in str(reply.body)
    assert "SELECT secret" in caplog.text


def test_an_unreachable_database_logs_one_line(
    ada_rest: RestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(project_id: int) -> None:
        raise OperationalError("connection refused\n\tIs the server running?")

    monkeypatch.setattr(overview, "count_all", fail)
    reply = ada_rest.get("stats/")
    assert (reply.status, reply.body["error"], reply.headers["retry-after"]) == (503, "internal", "5")
    [line] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert line.exc_info is None
    assert line.getMessage().endswith("(connection refused Is the server running?)")


@pytest.mark.parametrize("path", ["decisions/a%00b/", "decisions/a%00b/versions/", "decisions/?key=a%00b"])
def test_a_nul_in_the_address_is_invalid(ada_rest: RestClient, path: str) -> None:
    assert is_refused(ada_rest.get(path))


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
def test_a_thousand_and_one_parameters_are_too_many(ada_rest: RestClient, accept: str) -> None:
    query = "&".join(f"tags={n}" for n in range(1_001))
    path = f"/api/v1/projects/apollo/decisions/?{query}"
    assert ada_rest.send("GET", path, headers={"Accept": accept}).status == 400
