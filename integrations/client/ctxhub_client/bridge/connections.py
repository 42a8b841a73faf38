"""Connections to the hub: one for each request in flight, kept for the next one."""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
import time

from ctxhub_client.process import log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse
    from ssl import SSLContext
    from typing import Any, Iterator

# The hub closes a connection that is silent for 75 seconds.
KEPT_SECONDS = 60
CONNECT_SECONDS = 10.0
# A call waits for at most a minute by itself.
SILENCE_SECONDS = 150.0
MOST_ANSWER_BYTES = 64 * 1024 * 1024
PIECE_BYTES = 65_536


class NotReached(Exception):
    """No connection could be made: the hub has seen nothing of the request."""


class NotTrusted(NotReached):
    """Nor will one be soon: the certificate is not one that this machine trusts."""


class Lost(Exception):
    """The connection broke, or nothing came, after something had been sent: it may have been done."""


class Answer:
    """A response: whole, or with a stream of messages that come one by one."""

    def __init__(
        self, status: int, media_type: str, content: bytes, messages: Iterator[bytes] | None = None
    ) -> None:
        self.status = status
        self.media_type = media_type
        self.content = content
        self.messages = messages


class Exchange:
    """One request. Another thread may give it up."""

    def __init__(self) -> None:
        self.is_given_up = False
        self._connection: HTTPConnection | None = None
        self._lock = threading.Lock()

    def uses(self, connection: HTTPConnection | None) -> None:
        with self._lock:
            self._connection = connection
            if self.is_given_up and connection is not None:
                _shut(connection)

    def give_up(self) -> None:
        """The hub sees the connection close, and ends a call that waits."""
        with self._lock:
            self.is_given_up = True
            if self._connection is not None:
                _shut(self._connection)


class Connections:
    """Those to one address, by threads."""

    def __init__(self, url: str, path: str = "/mcp") -> None:
        from urllib.parse import urlsplit

        parts = urlsplit(url)
        self.is_secure = parts.scheme == "https"
        self.host = parts.hostname or ""
        self.port = parts.port or (443 if self.is_secure else 80)
        prefix = parts.path.rstrip("/")
        for ending in ("/mcp", "/api/v1"):
            prefix = prefix[: -len(ending)] if prefix.endswith(ending) else prefix
        self.target = prefix + path
        self.proxy = proxy_of(parts.scheme, self.host, self.port)
        self._proxy_headers: dict[str, str] = {}
        if self.proxy is not None and not self.is_secure:
            self._proxy_headers = _credentials(self.proxy)
            self.target = "http://{}{}".format(_host_and_port(self.host, self.port), self.target)
        self._idle: list[tuple[HTTPConnection, float]] = []
        self._context: SSLContext | None = None
        self._lock = threading.Lock()
        if not self.is_secure and (self.proxy is None or self.proxy.scheme != "https"):
            # http.client looks for it: a third of the memory, and nothing here needs it.
            sys.modules.setdefault("ssl", None)  # type: ignore[arg-type]

    def send(self, exchange: Exchange, body: bytes, headers: dict[str, str]) -> Answer:
        """Raises NotReached and Lost."""
        from http.client import HTTPException

        connection = self._taken() or self._opened()
        exchange.uses(connection)
        try:
            connection.request("POST", self.target, body, dict(headers, **self._proxy_headers))
            response = connection.getresponse()
            media_type = (response.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
            if media_type == "text/event-stream":
                messages = self._events(exchange, connection, response)
                return Answer(response.status, media_type, b"", messages)
            content = _content(response)
        except (OSError, HTTPException) as error:
            exchange.uses(None)
            connection.close()
            raise Lost("{}: {}".format(type(error).__name__, error)) from None
        except Lost:
            exchange.uses(None)
            connection.close()
            raise
        exchange.uses(None)
        self._keep(connection, response)
        return Answer(response.status, media_type, content)

    def _events(
        self, exchange: Exchange, connection: HTTPConnection, response: HTTPResponse
    ) -> Iterator[bytes]:
        """The data of each event. Raises Lost if the stream breaks."""
        from http.client import HTTPException

        data: list[bytes] = []
        try:
            while True:
                line = response.readline(MOST_ANSWER_BYTES)
                if not line:
                    break
                line = line.rstrip(b"\r\n")
                if line.startswith(b"data:"):
                    data.append(line[6:] if line.startswith(b"data: ") else line[5:])
                elif not line and data:
                    yield b"\n".join(data)
                    data = []
        except (OSError, HTTPException) as error:
            raise Lost("{}: {}".format(type(error).__name__, error)) from None
        finally:
            exchange.uses(None)
            connection.close()

    # -- Keeping -----------------------------------------------------------------------------------

    def _taken(self) -> HTTPConnection | None:
        """The connection that was used last, if the hub has not closed it."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection, since = self._idle.pop()
            if time.monotonic() - since < KEPT_SECONDS and not _is_readable(connection.sock):
                return connection
            connection.close()

    def _keep(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        if response.will_close or connection.sock is None:
            connection.close()
            return
        with self._lock:
            self._idle.append((connection, time.monotonic()))

    def _opened(self) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPException

        host, port = (self.proxy.hostname, self.proxy.port) if self.proxy else (self.host, self.port)
        try:
            if self.is_secure:
                from http.client import HTTPSConnection

                connection: HTTPConnection = HTTPSConnection(
                    host, port, timeout=CONNECT_SECONDS, context=self._trusted()
                )
                if self.proxy:
                    connection.set_tunnel(self.host, self.port, _credentials(self.proxy))
            else:
                connection = HTTPConnection(host, port, timeout=CONNECT_SECONDS)
            connection.connect()
            connection.sock.settimeout(SILENCE_SECONDS)
        except (OSError, HTTPException) as error:
            log("not reached:", error)
            is_trusted = type(error).__name__ != "SSLCertVerificationError"
            raise (NotReached if is_trusted else NotTrusted)(str(error)) from None
        return connection

    def _trusted(self) -> SSLContext:
        """One for all: each would read the certificates of the system again, half a MiB and 20 ms of work."""
        from ssl import create_default_context

        with self._lock:
            if self._context is None:
                self._context = create_default_context()
                self._context.set_alpn_protocols(["http/1.1"])
            return self._context


def _content(response: HTTPResponse) -> bytes:
    """Piece by piece: up to Python 3.9 as much memory is taken as is asked for. Raises Lost."""
    pieces: list[bytes] = []
    size = 0
    while piece := response.read(PIECE_BYTES):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_ANSWER_BYTES:
            raise Lost("the answer is longer than {:,} bytes".format(MOST_ANSWER_BYTES))
    if response.length:
        raise Lost("the answer broke off")
    return b"".join(pieces)


def _is_readable(sock: socket.socket | None) -> bool:
    """Whether a silent connection has something to read, which can only be its end."""
    if sock is None:
        return True
    try:
        return bool(select.select([sock], [], [], 0)[0])
    except (OSError, ValueError):
        return True


def _shut(connection: HTTPConnection) -> None:
    try:
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _host_and_port(host: str, port: int) -> str:
    return "{}:{}".format("[{}]".format(host) if ":" in host else host, port)


# -- Proxies of the environment ------------------------------------------------------------------------


def proxy_of(scheme: str, host: str, port: int) -> Any:
    """The parts of the proxy's address that the environment names for a hub; None for one on this machine."""
    from urllib.parse import urlsplit

    if is_loopback(host) or not _may_have_proxy():
        return None
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    url = proxies.get(scheme) or proxies.get("all")
    if not url or proxy_bypass(_host_and_port(host, port)):
        return None
    parts = urlsplit(url if "://" in url else "http://" + url)
    return parts if parts.hostname else None


def _may_have_proxy() -> bool:
    """Without loading what reads them, a quarter of the memory. Two systems have them elsewhere, too."""
    return sys.platform in ("win32", "darwin") or any(
        name.lower().endswith("_proxy") and name.lower() != "no_proxy" for name in os.environ
    )


def is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _credentials(proxy: Any) -> dict[str, str]:
    if not proxy.username:
        return {}
    from base64 import b64encode
    from urllib.parse import unquote

    pair = "{}:{}".format(unquote(proxy.username), unquote(proxy.password or ""))
    return {"Proxy-Authorization": "Basic " + b64encode(pair.encode()).decode()}
