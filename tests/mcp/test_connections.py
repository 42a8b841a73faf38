"""Connections that send too much before a request, too slowly, or are too many, are closed."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from django.conf import LazySettings

from ctxhub.mcp import connections
from tests.hub import LiveHub, McpClient
from tests.timing import PATIENCE_SECONDS

LINE = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def open_sockets() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_SEND", 1.0)


def connected(hub: LiveHub, sockets: ExitStack, text: str) -> socket.socket:
    client = sockets.enter_context(
        socket.create_connection(("127.0.0.1", hub.port), timeout=PATIENCE_SECONDS)
    )
    client.sendall(text.encode())
    return client


def rest_of(client: socket.socket) -> bytes:
    """What comes until the server closes the connection."""
    parts = []
    try:
        while part := client.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@pytest.mark.parametrize("end", ["", "\r\n\r\n"])
@pytest.mark.parametrize("header", ["X: " + "x" * 70_000, "X: y\r\n" * 20_000])
def test_headers_beyond_64_kib_are_refused(
    hub: LiveHub, open_sockets: ExitStack, header: str, end: str
) -> None:
    assert b" 431 " in rest_of(connected(hub, open_sockets, f"{LINE}{header}{end}"))


def test_headers_of_60_kib_are_taken(hub: LiveHub) -> None:
    assert hub.http().send("GET", "/healthz", headers={"X": "x" * 60_000}).status == 200


@pytest.mark.parametrize("sent", ["", LINE])
def test_headers_that_do_not_come_are_answered_and_closed(
    hub: LiveHub, open_sockets: ExitStack, hurried: None, sent: str
) -> None:
    assert rest_of(connected(hub, open_sockets, sent)).startswith(b"HTTP/1.1 408 ")


def test_a_second_request_has_the_same_time(hub: LiveHub, open_sockets: ExitStack, hurried: None) -> None:
    client = connected(hub, open_sockets, f"{LINE}\r\n")
    assert b" 200 " in client.recv(65_536)
    client.sendall(b"\r\n")
    assert b" 408 " in rest_of(client)


def test_a_body_that_never_ends_after_its_answer_is_closed(
    hub: LiveHub, open_sockets: ExitStack, hurried: None
) -> None:
    head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"
    assert b" 401 " in rest_of(connected(hub, open_sockets, head))


def test_a_call_that_waits_is_not_closed(ada_mcp: McpClient, hurried: None) -> None:
    assert ada_mcp.call("message", "inbox", wait_seconds=2)["count"] == 0


def test_a_connection_too_many_is_refused(
    hub: LiveHub, open_sockets: ExitStack, settings: LazySettings
) -> None:
    settings.MAX_CONNECTIONS = 3
    for _ in range(3):
        connected(hub, open_sockets, "")
    answers = [rest_of(connected(hub, open_sockets, "")) for _ in range(2)]
    assert all(answer.startswith(b"HTTP/1.1 503 ") for answer in answers)
