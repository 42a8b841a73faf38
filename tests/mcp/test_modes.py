"""The modes of a process: it serves everything, all but MCP, or only MCP."""

from collections.abc import MutableMapping
from typing import Any

import anyio
import pytest

from ctxhub.mcp.http import Dispatcher

Message = MutableMapping[str, Any]


def django(scope: Message, body: bytes) -> list[Message]:
    return [
        {"type": "http.response.start", "status": 299, "headers": []},
        {"type": "http.response.body", "body": b""},
    ]


def status(mode: str, path: str) -> int:
    """The status of a request without a token in this mode; 299 where Django would answer."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "POST", "path": path, "headers": [(b"host", b"localhost")]}
    anyio.run(Dispatcher(django, mode=mode), scope, receive, send)
    found: int = sent[0]["status"]
    return found


@pytest.mark.parametrize(("mode", "mcp", "other"), [("both", 401, 299), ("api", 404, 299), ("mcp", 401, 404)])
def test_a_process_serves_the_paths_of_its_mode(mode: str, mcp: int, other: int) -> None:
    assert [status(mode, path) for path in ("/mcp", "/mcp/")] == [mcp, mcp]
    assert [status(mode, path) for path in ("/", "/api/v1/projects/")] == [other] * 2
    assert [status(mode, path) for path in ("/mcp/x", "/.well-known/x")] == [404] * 2


@pytest.mark.parametrize("mode", ["both", "api", "mcp"])
def test_health_checks_are_served_in_every_mode(mode: str) -> None:
    assert [status(mode, path) for path in ("/healthz", "/readyz")] == [299, 299]
