"""Clients that send slowly or without end do not block others."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.mcp import request_bodies
from ctxhub.mcp.call_threads import THREADS
from memory.memories.services import add_memory
from tests.databases import end_other_connections
from tests.hub import LiveHub, RestClient
from tests.timing import PATIENCE_SECONDS

MEGABYTE = 1_000_000
HEAD = "POST /api/v1/projects/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture
def open_sockets() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def connected(hub: LiveHub, sockets: ExitStack, text: str) -> socket.socket:
    client = sockets.enter_context(
        socket.create_connection(("127.0.0.1", hub.port), timeout=PATIENCE_SECONDS)
    )
    client.sendall(text.encode())
    return client


def test_unfinished_bodies_occupy_no_worker_thread(hub: LiveHub, open_sockets: ExitStack) -> None:
    for _ in range(THREADS * 2):
        connected(hub, open_sockets, f"{HEAD}Content-Length: 10\r\n\r\n{{")
    assert hub.http().send("GET", "/healthz").status == 200


def test_a_body_that_is_not_sent_in_time_is_refused(
    hub: LiveHub, open_sockets: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_bodies, "SECONDS_TO_SEND", 0.2)
    client = connected(hub, open_sockets, f"{HEAD}Content-Length: 10\r\n\r\n{{")
    assert b" 408 " in client.recv(4_096)


@pytest.mark.one_engine
def test_unread_answers_occupy_no_worker_thread(
    hub: LiveHub, open_sockets: ExitStack, ada: Caller, ada_token: str, ada_rest: RestClient
) -> None:
    address = f"memories/{add_memory(caller=ada, title='Long', content='x' * MEGABYTE)['id']}/"
    assert len(ada_rest.get(address).body["content"]) == MEGABYTE
    script = (
        f"GET /api/v1/projects/apollo/{address} HTTP/1.1\r\n"
        f"Host: localhost\r\nAuthorization: Bearer {ada_token}\r\n\r\n"
    )
    for _ in range(THREADS * 2):
        connected(hub, open_sockets, script * 20)
    assert hub.http().send("GET", "/healthz").status == 200


@pytest.mark.one_engine
def test_a_chunked_body_is_refused_at_the_limit(hub: LiveHub, open_sockets: ExitStack) -> None:
    client = connected(hub, open_sockets, f"{HEAD}Transfer-Encoding: chunked\r\n\r\n")
    chunk = b"%x\r\n%s\r\n" % (1024 * 1024, b"x" * 1024 * 1024)
    try:
        for _ in range(7):
            client.sendall(chunk)
    except OSError:
        pass  # The server has closed the connection at the limit.
    assert b" 413 " in client.recv(4_096)


def test_connections_closed_by_the_database_are_reopened(hub: LiveHub, ada_rest: RestClient) -> None:
    for _ in range(THREADS):
        assert ada_rest.get("stats/").status == 200
    end_other_connections()
    assert [ada_rest.get("stats/").status for _ in range(THREADS)] == [200] * THREADS
