"""CORS of `/mcp` for the origins in CTXHUB_CORS_ORIGINS: with a token, never with cookies."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from django.conf import settings

from ctxhub.core.kit.served import ID_HEADER
from ctxhub.toolbox.rates import HEADERS

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PREFLIGHT = {
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": (
        "Authorization, Content-Type, Ctxhub-Agent, Ctxhub-Client, Ctxhub-Session, "
        "Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, X-Request-ID"
    ),
    "access-control-max-age": "600",
}
EXPOSED = ", ".join(("WWW-Authenticate", "Retry-After", "Mcp-Session-Id", ID_HEADER, *HEADERS))


def is_preflight(method: str, headers: Mapping[str, str]) -> bool:
    """Whether this is the CORS preflight of a listed origin; a preflight carries no token."""
    return method == "OPTIONS" and _is_listed(headers) and "access-control-request-method" in headers


async def answer_preflight(send: Send) -> None:
    allowed = [(name.encode(), value.encode()) for name, value in PREFLIGHT.items()]
    await send({"type": "http.response.start", "status": 204, "headers": allowed})
    await send({"type": "http.response.body"})


def with_cors_headers(headers: Mapping[str, str], send: Send) -> Send:
    """Return a `send` that adds the CORS headers of a response, if the request's origin is listed."""
    if not _is_listed(headers):
        return send
    cors_headers = [
        (b"access-control-allow-origin", headers["origin"].encode("latin-1")),
        (b"access-control-expose-headers", EXPOSED.encode()),
        (b"vary", b"Origin"),
    ]

    async def send_with_headers(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *cors_headers]}
        await send(message)

    return send_with_headers


def _is_listed(headers: Mapping[str, str]) -> bool:
    return headers.get("origin") in settings.CORS_ORIGINS
