"""A receiver of webhooks on a port of this machine: it notes what comes, and answers what a test says."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxhub.core.models import WebhookDelivery

Answer = int | tuple[int, dict[str, str], bytes]
"""A status, or one with headers and a body."""


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def delivery(self) -> str:
        return self.headers["x-ctxhub-delivery"]


@dataclass
class Receiver:
    """`answers`: what it answers next, in order; then 204. `most_at_work`: how many requests at once."""

    port: int
    received: list[Received] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    before_answer: Callable[[], object] = lambda: None
    at_work: int = 0
    most_at_work: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook/of/apollo?token=abcdefghijkl"

    @property
    def refs(self) -> list[str]:
        return [each.body["ref"] for each in self.received]

    def answer(self, received: Received) -> Answer:
        with self.lock:
            self.at_work += 1
            self.most_at_work = max(self.most_at_work, self.at_work)
            self.received.append(received)
            answer: Answer = self.answers.pop(0) if self.answers else 204
        self.before_answer()
        with self.lock:
            self.at_work -= 1
        return answer


def saved(row: "WebhookDelivery", **fields: Any) -> "WebhookDelivery":
    """The delivery with these fields, stored."""
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()
    return row


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = receiver.answer(Received(self.path, headers, raw))
            status, more, body = answer if isinstance(answer, tuple) else (answer, {}, b"")
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):  # A slow one was left.
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield receiver
    server.shutdown()
    server.server_close()
