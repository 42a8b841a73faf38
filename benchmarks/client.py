"""A cheap client: one request at a time, timed from its first byte to the last byte of the answer."""

import json
import time
from itertools import count
from typing import Any

from benchmarks.channels import Channel
from benchmarks.wire import Wire, request


class Refused(RuntimeError):
    """The server answered with an error."""


class Client:
    def __init__(self, channel: Channel, wire: Wire) -> None:
        self.channel = channel
        self.wire = wire
        self._numbers = count(1)

    def frame(self, method: str, params: dict[str, Any]) -> bytes:
        return self.channel.frame(request(self.wire, next(self._numbers), method, params))

    def timed(self, method: str, params: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """Seconds between sending and receiving, and the result. Encoding and decoding are not counted."""
        frame = self.frame(method, params)
        started = time.perf_counter()
        self.channel.send(frame)
        while (answer := self.channel.receive()) is None:
            pass
        return time.perf_counter() - started, result_of(answer)

    def rpc(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return self.timed(method, params or {})[1]

    def call(self, params: dict[str, Any]) -> dict[str, Any]:
        """The answer of a tool; `params` has its name and arguments as in the protocol."""
        return answer_of(self.rpc("tools/call", params))


def result_of(body: bytes) -> dict[str, Any]:
    message = json.loads(body)
    if "result" not in message:
        raise Refused(body.decode()[:500])
    result: dict[str, Any] = message["result"]
    return result


def answer_of(result: dict[str, Any]) -> dict[str, Any]:
    """The answer of the hub inside a tool result."""
    text = result["content"][0]["text"]
    if result.get("isError"):
        raise Refused(text[:500])
    answer: dict[str, Any] = json.loads(text)
    return answer
