"""The HTTP protocol of `serve`: limits the connections of a process, and the size and time of requests."""

import asyncio
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ctxhub.mcp.addresses import counted_address

MOST_OF_ADDRESS = 200
MOST_HEADER_BYTES = 64 * 1024
SECONDS_TO_SEND = 60.0
SECONDS_KEPT_ALIVE = 75  # An agent may think for a minute between two calls.

NO_ROOM = "This process has no free connection: try again soon."
NO_ROOM_FOR_ADDRESS = f"Your address has {MOST_OF_ADDRESS} connections to this process: close some."
TOO_SLOW = "Others needed this connection, and no whole request had come on it."

ABORT = "ctxhub.abort"
"""In the scope of a request: a function that closes its connection at once, whatever is still to be sent."""

when_ending: list[Callable[[], None]] = []
"""Called when the process begins to end."""


class LimitedProtocol(HttpToolsProtocol):
    """Answers 431, 408 and 503, and closes the connection, where uvicorn itself sets no limit.

    The time limit ends with the whole request: a client that waits for its answer may be silent. Uvicorn
    limits the time between two requests; request_bodies.py answers 408 for a body.

    Where the connections of an address or of the process are used up, a new one takes the place of the
    oldest on which no whole request has come. One that waits for an answer keeps its place.
    """

    _numbers = count()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._number = next(self._numbers)
        self._address = ""
        self._has_sent_request = False
        self._header_bytes: int | None = None  # None unless headers are being read.
        self._request_timer: asyncio.TimerHandle | None = None

    # -- Connections -------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = counted_address(self.client[0] if self.client else None)
        if not self._finds_room(self._of_same_address(), MOST_OF_ADDRESS):
            self._refuse_connection(NO_ROOM_FOR_ADDRESS)
        elif not self._finds_room(self._open_connections(), settings.MAX_CONNECTIONS):
            self._refuse_connection(NO_ROOM)
        else:
            self._expect_request()

    def _open_connections(self) -> list["LimitedProtocol"]:
        """Those of the process, this one included."""
        every: Iterable[Any] = self.connections
        return [each for each in every if not each.transport.is_closing()]

    def _of_same_address(self) -> list["LimitedProtocol"]:
        if not self._address:
            return []
        return [each for each in self._open_connections() if each._address == self._address]

    def _finds_room(self, among: list["LimitedProtocol"], most: int) -> bool:
        """Whether there are at most so many, if need be after the oldest without a request is closed."""
        if len(among) <= most:
            return True
        idle = [each for each in among if each is not self and not each._has_sent_request]
        if not idle:
            return False
        min(idle, key=lambda each: each._number)._refuse_connection(TOO_SLOW)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        super().shutdown()
        for callback in when_ending:
            callback()

    # -- Requests ----------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._request_timer is None and not self._owes_answer():
            self._expect_request()
        was_reading_headers = self._header_bytes is not None
        super().data_received(data)
        if was_reading_headers and self._header_bytes is not None:
            self._header_bytes += len(data)
            if self._header_bytes > MOST_HEADER_BYTES:
                self._refuse_headers()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[ABORT] = self.transport.abort  # type: ignore[literal-required]
        self._expect_request()

    def on_headers_complete(self) -> None:
        self._header_bytes = None
        if self._size_of_headers() > MOST_HEADER_BYTES:
            raise ValueError  # The parser stops, and asks for send_400_response.
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop_timer()
        self._has_sent_request = True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._size_of_headers() > MOST_HEADER_BYTES:
            self._refuse_headers()
        else:
            super().send_400_response(msg)

    # -- Limits ------------------------------------------------------------------------------------

    def _owes_answer(self) -> bool:
        """Whether a request, whose headers have come, has no whole answer yet."""
        return bool(self.cycle) and not self.cycle.response_complete

    def _expect_request(self) -> None:
        self._header_bytes = self._header_bytes or 0
        if self._request_timer is None:
            self._request_timer = self.loop.call_later(SECONDS_TO_SEND, self._refuse_slow_request)

    def _stop_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _size_of_headers(self) -> int:
        if self.headers is None:
            return 0
        return len(self.url) + sum(len(name) + len(value) + len(": \r\n") for name, value in self.headers)

    def _refuse_headers(self) -> None:
        self._refuse(431, "Request Header Fields Too Large", "The headers have more than 64 KiB.")

    def _refuse_slow_request(self) -> None:
        if self._header_bytes is not None:
            self._refuse(408, "Request Timeout", f"The headers did not come within {SECONDS_TO_SEND:.0f} s.")
        elif not self._owes_answer():
            self.transport.close()  # It was answered without its body.

    def _refuse_connection(self, message: str) -> None:
        self._refuse(503, "Service Unavailable", message)

    def _refuse(self, status: int, phrase: str, message: str) -> None:
        """Answer and close. On a connection with an unfinished answer only close."""
        if not self.transport.is_closing() and not self._owes_answer():
            self.transport.write(_answer(status, phrase, message))
        self.transport.close()


def _answer(status: int, phrase: str, message: str) -> bytes:
    body = message.encode()
    head = (
        f"HTTP/1.1 {status} {phrase}\r\ncontent-type: text/plain; charset=utf-8\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
