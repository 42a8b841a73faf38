"""A request while it is served: its id, which comes in and goes out as `X-Request-ID`, and its metrics."""

from collections.abc import Awaitable, Callable, MutableMapping
from contextvars import Token
from time import perf_counter
from types import TracebackType
from typing import Any

from ctxhub.core.kit.served import ID_HEADER, METERS, TRACERS, Served, at_work, id_of

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

PROBES = ("/healthz", "/readyz", "/metrics")
_HEADER = ID_HEADER.lower().encode()
_FACES = (("/mcp", "mcp"), ("/api", "rest"))


class Serving:
    """A context manager around the answer to a request; what is in it sends by its `send`."""

    def __init__(self, scope: Scope, send: Send) -> None:
        face, operation = _face_of(scope["path"])
        self._served = Served(id_of(_sent_id(scope)), face, operation)
        self._send = send
        self._began = perf_counter()
        self._token: Token[Served | None] | None = None
        self._trace = TRACERS[0].request(self._served, scope["headers"]) if TRACERS else None

    def __enter__(self) -> "Serving":
        self._token = at_work.set(self._served)
        if self._trace:
            self._trace.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._token
        if self._trace:
            self._trace.__exit__(kind, error, trace)
        at_work.reset(self._token)

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            told = (_HEADER, self._served.id.encode())
            message = {**message, "headers": [*message.get("headers", ()), told]}
            self._served.status = message["status"]
            self._count()
        await self._send(message)

    def _count(self) -> None:
        seconds = perf_counter() - self._began - self._served.waited
        for meter in METERS:
            meter.answered(self._served, seconds)


def _face_of(path: str) -> tuple[str, str]:
    """The face, and the operation as far as the address tells it without a name that anybody makes up."""
    if path in PROBES:
        return "probe", path[1:]
    for start, face in _FACES:
        if path == start or path.startswith(f"{start}/"):
            return face, "unknown"
    return "admin", "static" if path.startswith("/static/") else "page"


def _sent_id(scope: Scope) -> str:
    """The id that came with the request; "" if none did, or several."""
    sent = [value for name, value in scope["headers"] if name == _HEADER]
    return sent[0].decode("latin-1") if len(sent) == 1 else ""
