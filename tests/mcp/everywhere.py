"""Requests over stdio and HTTP, in both eras of the protocol, whose answers are the same JSON."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.mcp.methods import answer
from ctxhub.mcp.requests import Request, Surface, Work
from ctxhub.mcp.subscriptions import Listening
from tests.hub import McpClient
from tests.mcp.transcript import META, MODERN, Message, hello, notification, request
from tests.mcp.transcript import headers_of as plain_headers
from tests.stdio import answered

ERAS = ("2025-11-25", MODERN)
OF_LATER = ("resultType", "ttlMs", "cacheScope")
SERVER_INFO = "io.modelcontextprotocol/serverInfo"


@dataclass(frozen=True)
class Everywhere:
    """`caller` over stdio and `client` over HTTP are the same agent."""

    caller: Caller
    client: McpClient
    folder: Path

    def ask(self, method: str, **params: Any) -> dict[str, Message]:
        """The answers by version; each is the same over both transports."""
        return {version: self._ask(version, method, params) for version in ERAS}

    def _ask(self, version: str, method: str, params: Message) -> Message:
        meta = {"_meta": {**META, **params.get("_meta", {})}} if version == MODERN else {}
        asked = request(method, {**params, **meta})
        begun = [hello(version), notification("notifications/initialized")] if version != MODERN else []
        *_, over_stdio = answered(self.caller, map(json.dumps, [*begun, asked]), self.folder)
        reply = self.client.send("POST", "/mcp", asked, headers_of(asked, version))
        assert reply.body == over_stdio
        expected = 400 if version == MODERN and "error" in over_stdio else 200
        assert reply.status == expected
        return over_stdio

    def result(self, method: str, **params: Any) -> dict[str, Any]:
        """The result, which both eras share but for what the later one adds."""
        earlier, later = self.ask(method, **params).values()
        plain = {name: value for name, value in later["result"].items() if name not in OF_LATER}
        meta = {name: value for name, value in plain.pop("_meta").items() if name != SERVER_INFO}
        assert {**plain, **({"_meta": meta} if meta else {})} == earlier["result"]
        result: dict[str, Any] = earlier["result"]
        return result

    def error(self, method: str, **params: Any) -> tuple[int, int, str]:
        """The codes of both eras, and the message, which they share."""
        earlier, later = (answer["error"] for answer in self.ask(method, **params).values())
        assert later | {"code": 0} == earlier | {"code": 0}
        return earlier["code"], later["code"], earlier["message"]


def headers_of(message: Message, version: str) -> dict[str, str]:
    """Those of the request, with what is no ASCII in Base64."""
    headers = plain_headers(message, version)
    assert headers is not None
    return {name: _encoded(value) for name, value in headers.items()}


def _encoded(value: str) -> str:
    if value.isascii() and value.isprintable() and value == value.strip():
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def asked(
    caller: Caller,
    method: str,
    surface: Surface | None = None,
    version: str = "2025-11-25",
    **params: Any,
) -> dict[str, Any]:
    """The result of a request in this process, without a transport. Raises RpcError."""
    result = answer(Request(method, params, version, caller, surface or Surface()))
    assert not isinstance(result, Listening)
    if not isinstance(result, Work):
        return result
    assert not result.writes()
    try:
        return result.run()
    except Exception as error:
        return result.failed(error)
