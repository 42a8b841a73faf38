"""Transport of bytes: the pipes of a stdio server, or one persistent HTTP connection.

Without a client library: the client of the SDK costs more than the server, and http.client costs much, too.
"""

import json
import os
import re
import select
import socket
import subprocess
from typing import Any, Protocol

from benchmarks.wire import Message, Wire, headers

CHUNK = 1 << 18
SECONDS_TO_ANSWER = 60
_SUCCESS = re.compile(rb"HTTP/1\.1 2\d\d ")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Broken(RuntimeError):
    """The server closed the connection or sent an invalid answer."""


class NotDone(Broken):
    """The answer is complete, and it is an error."""


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
    """One persistent connection. `receive` accepts any answer with a status of success."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._socket = self._connect()
        self._common = (
            f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        )
        self._pending = b""

    def _connect(self) -> socket.socket:
        made = socket.create_connection(("127.0.0.1", self._port), SECONDS_TO_ANSWER)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made

    def request(self, method: str, path: str, body: bytes, more: str = "") -> bytes:
        # The server may have closed the connection while it was idle.
        if select.select([self._socket], [], [], 0)[0]:
            self._socket.close()
            self._socket = self._connect()
        head = f"{method} {path} HTTP/1.1\r\n{self._common}{more}Content-Length: {len(body)}\r\n\r\n"
        return head.encode() + body

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
        answer, self._pending = self._pending, b""
        if not length or not _SUCCESS.match(head):
            raise NotDone(f"Not an answer in JSON: {answer[:500]!r}")
        return body

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()


class McpChannel(HttpChannel):
    """Each message is a POST to /mcp."""

    def __init__(self, port: int, token: str, wire: Wire) -> None:
        super().__init__(port, token)
        self._wire = wire

    def frame(self, message: Message) -> bytes:
        protocol = "".join(f"{name}: {value}\r\n" for name, value in headers(self._wire, message).items())
        accept = "Accept: application/json, text/event-stream\r\n"
        return self.request("POST", "/mcp", message.body, accept + protocol)


class RestChannel(HttpChannel):
    """Each request is one of the REST API of a project."""

    def __init__(self, port: int, token: str, project: str) -> None:
        super().__init__(port, token)
        self._root = f"/api/v1/projects/{project}/"

    def frame(self, method: str, path: str, body: Any = None, *, agent: str, request_id: str = "") -> bytes:
        """`path` is relative to the project; `body` becomes JSON."""
        named = f"Ctxhub-Agent: {agent}\r\n" + (f"Idempotency-Key: {request_id}\r\n" if request_id else "")
        sent = b"" if body is None else json.dumps(body).encode()
        return self.request(method, self._root + path, sent, named)
