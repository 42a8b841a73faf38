"""A request while it is served: its id, which comes in and goes out as `X-Request-ID`."""

from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import Token
from typing import Any

from ctxhub.core.kit.served import ID_HEADER, Served, at_work, id_of

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

_HEADER = ID_HEADER.lower().encode()


class Serving:
    """A context manager around the answer to a request; what is in it sends by its `send`."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._served = Served(id_of(_sent_id(scope)))
        self._send = send
        self._token: Token[Served | None] | None = None

    def __enter__(self) -> "Serving":
        self._token = at_work.set(self._served)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._token
        at_work.reset(self._token)

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            told = (_HEADER, self._served.id.encode())
            message = {**message, "headers": [*message.get("headers", ()), told]}
        await self._send(message)


def _sent_id(scope: Scope) -> str:
    """The id that came with the request; "" if none did, or several."""
    sent = [value for name, value in scope["headers"] if name == _HEADER]
    return sent[0].decode("latin-1") if len(sent) == 1 else ""
