"""Pages of the sites in CTXHUB_CORS_ORIGINS may speak MCP: with a token, never with cookies."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from django.conf import settings

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PREFLIGHT = {
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": (
        "Authorization, Content-Type, Ctxhub-Agent, "
        "Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id"
    ),
    "access-control-max-age": "600",
}


def asks_first(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a browser asks leave for a listed page's request; the question itself carries no token."""
    return method == "OPTIONS" and _is_listed(headers) and "access-control-request-method" in headers


async def give_leave(send: Send) -> None:
    allowed = [(name.encode(), value.encode()) for name, value in PREFLIGHT.items()]
    await send({"type": "http.response.start", "status": 204, "headers": allowed})
    await send({"type": "http.response.body"})


def readable(headers: Mapping[str, str], send: Send) -> Send:
    """`send`, with leave for a listed page to read what it is sent."""
    if not _is_listed(headers):
        return send
    leave = [
        (b"access-control-allow-origin", headers["origin"].encode("latin-1")),
        (b"access-control-expose-headers", b"WWW-Authenticate, Retry-After, Mcp-Session-Id"),
        (b"vary", b"Origin"),
    ]

    async def send_with_leave(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *leave]}
        await send(message)

    return send_with_leave


def _is_listed(headers: Mapping[str, str]) -> bool:
    return headers.get("origin") in settings.CORS_ORIGINS
