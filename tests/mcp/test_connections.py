"""Connections that send too much before a request, too slowly, or are too many, are closed."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
import uvicorn
from django.conf import LazySettings
from uvicorn.server import ServerState

from ctxhub.mcp import connections
from ctxhub.mcp.connections import LimitedProtocol
from ctxhub.mcp.http import Dispatcher
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


# -- Too many ---------------------------------------------------------------------------------------


def busy(hub: LiveHub, sockets: ExitStack) -> socket.socket:
    """A connection on which a request was answered."""
    client = connected(hub, sockets, f"{LINE}\r\n")
    assert b" 200 " in client.recv(65_536)
    return client


def is_open(client: socket.socket) -> bool:
    """Whether the connection answers one more request."""
    try:
        client.sendall(f"{LINE}\r\n".encode())
        return b" 200 " in client.recv(65_536)
    except ConnectionError:
        return False


def test_a_connection_too_many_is_refused(
    hub: LiveHub, open_sockets: ExitStack, settings: LazySettings
) -> None:
    settings.MAX_CONNECTIONS = 3
    clients = [busy(hub, open_sockets) for _ in range(3)]
    answers = [rest_of(connected(hub, open_sockets, "")) for _ in range(2)]
    assert all(answer.startswith(b"HTTP/1.1 503 ") for answer in answers)
    assert all(is_open(client) for client in clients)


@pytest.mark.parametrize("sent", ["", LINE, f"{LINE}Content-Length: 9\r\n\r\nhalf"])
def test_the_oldest_that_sent_no_whole_request_gives_way(
    hub: LiveHub, open_sockets: ExitStack, settings: LazySettings, sent: str
) -> None:
    settings.MAX_CONNECTIONS = 3
    first = busy(hub, open_sockets)
    slow, slower = connected(hub, open_sockets, sent), connected(hub, open_sockets, sent)
    assert is_open(connected(hub, open_sockets, ""))
    assert b" 503 " in rest_of(slow) or not sent.endswith("\r\n")
    assert is_open(first)
    assert is_open(connected(hub, open_sockets, ""))
    rest_of(slower)


def test_a_call_that_waits_keeps_its_place(
    hub: LiveHub, ada_mcp: McpClient, open_sockets: ExitStack, settings: LazySettings
) -> None:
    ada_mcp.rpc("ping")  # Else the crowd could close the connection before its first request arrives.
    settings.MAX_CONNECTIONS = 2
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ada_mcp.call, "message", "inbox", wait_seconds=1)
        while not waiting.done():
            connected(hub, open_sockets, "")
        assert waiting.result()["count"] == 0


class Peer(asyncio.Transport):
    """A connection from an address of another machine."""

    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 4711), "sockname": ("192.0.2.100", 8000)})
        self.written = b""
        self._is_closing = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        self._is_closing = True


@pytest.fixture
def connect(settings: LazySettings) -> Iterator[Callable[[str], Peer]]:
    """Connects from an address, to a process of its own."""
    loop = asyncio.new_event_loop()
    config, state = uvicorn.Config(Dispatcher(lambda scope, body: []), log_config=None), ServerState()

    def made(address: str, sent: bytes = b"") -> Peer:
        protocol, transport = LimitedProtocol(config, state, {}, loop), Peer(address)
        protocol.connection_made(transport)
        protocol.data_received(sent)
        return transport

    yield made
    for task in state.tasks:
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


REQUEST = f"{LINE}\r\n".encode()


def test_an_address_has_at_most_200_connections(connect: Callable[..., Peer]) -> None:
    first = [connect("192.0.2.1", REQUEST) for _ in range(200)]
    assert connect("192.0.2.1").written.startswith(b"HTTP/1.1 503 ")
    assert not any(transport.is_closing() for transport in first)
    assert not connect("192.0.2.2").is_closing()
    first[7].close()
    assert not connect("192.0.2.1").is_closing()


def test_addresses_of_one_ipv6_network_are_counted_together(connect: Callable[..., Peer]) -> None:
    for number in range(200):
        connect(f"2001:db8::{number:x}", REQUEST)
    assert connect("2001:db8::ffff").is_closing()
    assert not connect("2001:db8:0:1::1").is_closing()


def test_what_sent_no_request_gives_way_within_its_address(connect: Callable[..., Peer]) -> None:
    other = connect("192.0.2.9")
    busy, slow = connect("192.0.2.1", REQUEST), connect("192.0.2.1")
    for _ in range(198):
        connect("192.0.2.1")
    assert not connect("192.0.2.1").is_closing()
    assert [each.is_closing() for each in (other, busy, slow)] == [False, False, True]


def test_this_machine_and_a_proxy_in_front_may_have_more(
    connect: Callable[..., Peer], settings: LazySettings
) -> None:
    assert not any(connect("127.0.0.1", REQUEST).is_closing() for _ in range(201))
    settings.BEHIND_PROXY = True
    assert not any(connect("192.0.2.1", REQUEST).is_closing() for _ in range(201))
