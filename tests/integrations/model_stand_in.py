"""A scripted stand-in for a model's Messages API, so that the real Claude Code runs without a model."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"input_tokens": 1, "output_tokens": 1}
Block = dict[str, Any]
# A function is called when its turn comes, while the client waits for the model.
Step = Block | Callable[[], Block]


def text(said: str) -> Block:
    return {"type": "text", "text": said}


def use(tool: str, **arguments: Any) -> Block:
    return {"type": "tool_use", "name": tool, "input": arguments}


@dataclass
class StandIn:
    """What it says, a step for each turn (the last one repeats), and the requests of these turns.

    `apart`: the scripts of conversations of their own, by what stands in their requests alone.
    """

    port: int
    script: list[Step]
    turns: list[dict[str, Any]] = field(default_factory=list)
    apart: dict[str, list[Step]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def then(self, *script: Step) -> None:
        """What it says from now on."""
        self.script[:], self.turns[:] = script, []

    def answer(self, body: dict[str, Any]) -> tuple[Block, int]:
        """The next block and its turn."""
        with self.lock:
            self.turns.append(body)
            turn = len(self.turns)
            step = self._next(json.dumps(body) if self.apart else "")
        block = step() if callable(step) else step
        return ({**block, "id": f"toolu_{id(body)}"} if block["type"] == "tool_use" else block), turn

    def _next(self, request: str) -> Step:
        script = next((own for mark, own in self.apart.items() if mark in request), self.script)
        return script.pop(0) if len(script) > 1 else script[0]

    def shown(self, turn: int) -> str:
        """All that stood before the model in a turn, from 1, as one text."""
        sent = self.turns[turn - 1]
        parts = [sent.get(name) for name in ("system", "messages", "instructions", "input")]
        return json.dumps(parts, ensure_ascii=False)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stand_in: StandIn

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        self.reply(b'{"models": [], "data": []}')

    def do_HEAD(self) -> None:
        self.reply(b"{}")

    def do_POST(self) -> None:
        self.answer(json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}"))

    def answer(self, body: dict[str, Any]) -> None:
        if "count_tokens" in self.path:
            return self.reply(b'{"input_tokens": 10}')
        if "/v1/messages" not in self.path:
            return self.reply(b"{}")
        # Requests without tools are for titles and summaries.
        block, turn = self.stand_in.answer(body) if body.get("tools") else (text("ok"), 0)
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": body.get("model")}
        message |= {"content": [block], "stop_reason": stop, "stop_sequence": None, "usage": USAGE}
        if not body.get("stream"):
            return self.reply(json.dumps(message).encode())
        lines = (
            f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in _events(message, block, stop)
        )
        return self.reply("".join(lines).encode(), "text/event-stream")

    def reply(self, body: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _events(message: dict[str, Any], block: Block, stop: str) -> Iterator[dict[str, Any]]:
    """The message as the events of a stream."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    if block["type"] == "tool_use":
        begun, delta = (
            {**block, "input": {}},
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])},
        )
    else:
        begun, delta = text(""), {"type": "text_delta", "text": block["text"]}
    yield {"type": "content_block_start", "index": 0, "content_block": begun}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": USAGE}
    yield {"type": "message_stop"}


@contextmanager
def standing_in(handler: type[Handler] = Handler) -> Iterator[StandIn]:
    class Own(handler):  # type: ignore[misc, valid-type]
        pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Own)
    server.daemon_threads = True
    Own.stand_in = StandIn(server.server_address[1], [text("Done.")])
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield Own.stand_in
    finally:
        server.shutdown()
        server.server_close()
