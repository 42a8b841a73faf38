"""A hub on a socket whose answers are scripted, byte by byte where a test needs that."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

CLOSES = "closes"
Act = Callable[["Request"], str | None]
"""Answers a request. CLOSES: the connection is closed behind it."""


@dataclass(frozen=True)
class Request:
    line: socket.socket
    target: str
    headers: dict[str, str]
    message: Any

    def send(
        self, body: bytes, *, status: str = "200 OK", media_type: str = "application/json", more: str = ""
    ) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        self.line.sendall(head.encode() + body)

    def answer(self, **result: Any) -> None:
        message = {"jsonrpc": "2.0", "id": self.message.get("id"), "result": result}
        self.send(json.dumps(message, ensure_ascii=False).encode())


def answers(request: Request) -> None:
    request.answer(said=request.message.get("method"))


def closes(_: Request) -> str:
    return CLOSES


def answers_and_closes(request: Request) -> str:
    answers(request)
    return CLOSES


@dataclass
class ScriptedHub:
    """`acts`: for the next requests, in turn; `usual` for what comes after. `got`: what came. `closed`: how
    many connections it has closed behind a request.
    """

    port: int = 0
    acts: list[Act] = field(default_factory=list)
    usual: Act = answers
    got: list[Request] = field(default_factory=list)
    connections: int = 0
    closed: int = 0
    _listener: socket.socket | None = None
    _lines: list[socket.socket] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def begin(self) -> None:
        """On the port it had before, if it had one."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=[self._listener], daemon=True).start()

    def end(self) -> None:
        """Close every connection, as a process that ends does."""
        assert self._listener
        for each in (self._listener, *self._lines):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._lines.clear()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                line, _ = listener.accept()
                self.connections += 1
                self._lines.append(line)
                threading.Thread(target=self._serve, args=[line], daemon=True).start()

    def _serve(self, line: socket.socket) -> None:
        with suppress(OSError, ValueError), line, line.makefile("rb") as file:
            while first := file.readline():
                headers: dict[str, str] = {}
                while (header := file.readline().decode("latin-1").strip()) != "":
                    name, _, value = header.partition(": ")
                    headers[name.lower()] = value
                body = file.read(int(headers.get("content-length", 0)))
                request = Request(line, first.split()[1].decode(), headers, json.loads(body or b"{}"))
                self.got.append(request)
                act = self.acts.pop(0) if self.acts else self.usual
                if act(request) == CLOSES:
                    line.shutdown(socket.SHUT_RDWR)
                    self.closed += 1
                    return


@contextmanager
def scripted() -> Iterator[ScriptedHub]:
    hub = ScriptedHub()
    hub.begin()
    try:
        yield hub
    finally:
        hub.end()
