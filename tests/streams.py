"""A reader of event streams over a real connection, for tests."""

import http.client
import json
import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from ctxhub.mcp.feeds import Feeds
from ctxhub.mcp.wakeups import watch
from tests.hub import LiveHub
from tests.timing import PATIENCE_SECONDS, wait_until


@dataclass(frozen=True)
class Frame:
    """A block of a stream: its fields as they were sent; `comments` are the lines that begin with a colon."""

    id: str = ""
    event: str = ""
    data: Any = None
    retry: str = ""
    comments: int = 0

    @classmethod
    def of(cls, lines: list[str]) -> "Frame":
        fields = dict(line.split(": ", 1) for line in lines if not line.startswith(":"))
        data = json.loads(fields["data"]) if "data" in fields else None
        comments = sum(line.startswith(":") for line in lines)
        return cls(fields.get("id", ""), fields.get("event", ""), data, fields.get("retry", ""), comments)


@dataclass
class Stream:
    """An answer that goes on. `beginning` is its first block."""

    response: http.client.HTTPResponse
    connection: http.client.HTTPConnection
    beginning: Frame = field(default_factory=Frame)
    _frames: "queue.SimpleQueue[Frame | None]" = field(default_factory=queue.SimpleQueue)

    @property
    def status(self) -> int:
        return self.response.status

    def start(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()
        self.beginning = self.block()

    def block(self) -> Frame:
        """The next block, of whatever kind."""
        frame = self._frames.get(timeout=PATIENCE_SECONDS)
        assert frame is not None, "the stream has ended"
        return frame

    def next(self) -> Frame:
        """The next event."""
        while not (frame := self.block()).event:
            pass
        return frame

    def refs(self, count: int) -> list[str]:
        return [self.next().data["ref"] for _ in range(count)]

    def rest(self) -> list[Frame]:
        """Wait for the end of the stream; returns the events before it."""
        blocks = list(iter(lambda: self._frames.get(timeout=PATIENCE_SECONDS), None))
        return [block for block in blocks if block.event]

    def ends(self) -> None:
        """Wait until the hub ends the stream; no event comes before."""
        assert self.rest() == []

    def _read(self) -> None:
        lines: list[str] = []
        try:
            while line := self.response.readline():
                if text := line.decode().removesuffix("\n"):
                    lines.append(text)
                else:
                    self._frames.put(Frame.of(lines))
                    lines = []
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass  # The test or the hub has closed the connection.
        self._frames.put(None)

    def close(self) -> None:
        """Also while the other thread reads."""
        reading = getattr(getattr(self.response.fp, "raw", None), "_sock", None)
        for each in (self.connection.sock, reading):
            if each is not None:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        self.connection.close()


def ask(
    hub: LiveHub,
    path: str,
    token: str = "",
    headers: dict[str, str] | None = None,
    method: str = "GET",
    body: bytes | None = None,
) -> Stream:
    """Send the request, and read the headers of its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=2 * PATIENCE_SECONDS)
    sent = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request(method, path, body, headers={**sent, "Accept": "text/event-stream", **(headers or {})})
    return Stream(connection.getresponse(), connection)


@contextmanager
def following(
    hub: LiveHub, token: str, *, project: str = "apollo", last_id: str = "", **query: Any
) -> Iterator[Stream]:
    """The events of a project, as the agent of the token."""
    path = f"/api/v1/projects/{project}/events/?{urlencode(query, doseq=True)}"
    stream = ask(hub, path, token, {"Last-Event-ID": last_id} if last_id else {})
    try:
        assert stream.status == 200, stream.response.read()
        stream.start()
        yield stream
    finally:
        stream.close()


def open_streams() -> int:
    """Of this process."""
    return sum(len(each) for each in list(watch._waiters) if isinstance(each, Feeds))


def wait_for_streams(count: int) -> None:
    wait_until(lambda: open_streams() == count)
