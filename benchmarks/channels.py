"""Transport of bytes: the pipes of a stdio server, or one persistent HTTP connection.

Without a client library: the client of the SDK costs more than the server, and http.client costs much, too.
"""

import os
import re
import select
import socket
import subprocess
from typing import Protocol

from benchmarks.wire import Message, Wire, headers

CHUNK = 1 << 18
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Broken(RuntimeError):
    """The server closed the connection or sent an invalid answer."""


class Channel(Protocol):
    """One request at a time. `receive` reads available bytes and returns the answer once it is complete."""

    def frame(self, message: Message) -> bytes: ...
    def send(self, frame: bytes) -> None: ...
    def receive(self) -> bytes | None: ...
    def fileno(self) -> int: ...
    def close(self) -> None: ...


class PipeChannel:
    """Each message is a line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self._pending = b""

    def frame(self, message: Message) -> bytes:
        return message.body + b"\n"

    def send(self, frame: bytes) -> None:
        os.write(self._stdin.fileno(), frame)

    def receive(self) -> bytes | None:
        data = os.read(self._stdout.fileno(), CHUNK)
        if not data:
            raise Broken("The server has closed its output.")
        *lines, self._pending = (self._pending + data).split(b"\n")
        # A line without an id is a notification.
        return next((line for line in lines if b'"id":' in line), None)

    def fileno(self) -> int:
        return self._stdout.fileno()

    def close(self) -> None:
        self._stdin.close()
        self._stdout.close()


class HttpChannel:
    """Each message is a POST to /mcp."""

    def __init__(self, port: int, token: str, wire: Wire) -> None:
        self._port = port
        self._wire = wire
        self._socket = self._connect()
        self._head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        )
        self._pending = b""

    def _connect(self) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", self._port))
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def frame(self, message: Message) -> bytes:
        # The server may have closed the connection while it was idle.
        if select.select([self._socket], [], [], 0)[0]:
            self._socket.close()
            self._socket = self._connect()
        protocol = "".join(f"{name}: {value}\r\n" for name, value in headers(self._wire, message).items())
        length = f"Content-Length: {len(message.body)}\r\n\r\n"
        return f"{self._head}{protocol}{length}".encode() + message.body

    def send(self, frame: bytes) -> None:
        self._socket.sendall(frame)

    def receive(self) -> bytes | None:
        data = self._socket.recv(CHUNK)
        if not data:
            raise Broken("The server has closed the connection.")
        self._pending += data
        head, blank, body = self._pending.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not blank or (length and len(body) < int(length[1])):
            return None
        if not length or not head.startswith(b"HTTP/1.1 200"):
            raise Broken(f"Not an answer in JSON: {self._pending[:500]!r}")
        self._pending = b""
        return body

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()
