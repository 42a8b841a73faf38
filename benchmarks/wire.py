"""Messages of a client: JSON-RPC in both eras of the protocol, as bytes."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

CLIENT = {"name": "ctxhub-benchmarks", "version": "1"}
META = "io.modelcontextprotocol"


class Wire(StrEnum):
    """The older era starts with `initialize`; in the newer one every request identifies the client."""

    INITIALIZED = "2025-11-25"
    STATELESS = "2026-07-28"


@dataclass(frozen=True, slots=True)
class Message:
    """A request or, without an `id` in its body, a notification. `name` is that of the called tool."""

    method: str
    name: str
    body: bytes


def request(wire: Wire, number: int, method: str, params: dict[str, Any]) -> Message:
    if wire is Wire.STATELESS:
        params = {**params, "_meta": _identity(wire)}
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return Message(method, str(params.get("name", "")), _encoded(body))


def opening() -> list[Message]:
    """The messages with which the older era starts on a pipe."""
    params = {"protocolVersion": str(Wire.INITIALIZED), "capabilities": {}, "clientInfo": CLIENT}
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    return [
        request(Wire.INITIALIZED, 0, "initialize", params),
        Message("notifications/initialized", "", _encoded(notification)),
    ]


def headers(wire: Wire, message: Message) -> dict[str, str]:
    """The HTTP headers of the protocol."""
    if wire is Wire.INITIALIZED:
        return {"mcp-protocol-version": wire}
    named = {"mcp-name": message.name} if message.name else {}
    return {"mcp-protocol-version": wire, "mcp-method": message.method, **named}


def _identity(wire: Wire) -> dict[str, Any]:
    return {
        f"{META}/protocolVersion": wire,
        f"{META}/clientInfo": CLIENT,
        f"{META}/clientCapabilities": {},
    }


def _encoded(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
