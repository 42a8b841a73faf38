"""Reads a request's body before Django runs, so that a slow client holds no thread, and limits its size.

By itself Django stores a body on disk before it checks its length or who sent it.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.conf import settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

SECONDS_TO_SEND = 60.0


class TooLong(Exception):
    """The body has more than `at_most` bytes."""

    def __init__(self, at_most: int) -> None:
        super().__init__()
        self.at_most = at_most


class TooSlow(Exception):
    """The body did not arrive within SECONDS_TO_SEND."""


class ClientGone(Exception):
    """The client has disconnected."""


async def read_body(headers: dict[str, str], receive: Receive, *, at_most: int | None = None) -> bytes:
    """The complete body, of `at_most` bytes (default: the limit of REST).

    Raises TooLong, TooSlow or ClientGone.
    """
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE if at_most is None else at_most
    content_length = headers.get("content-length", "")
    if content_length.isdigit() and int(content_length) > limit:
        raise TooLong(limit)
    try:
        async with asyncio.timeout(SECONDS_TO_SEND):
            return await _read_chunks(receive, limit)
    except TimeoutError as error:
        raise TooSlow from error


async def _read_chunks(receive: Receive, limit: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > limit:
            raise TooLong(limit)
        if not message.get("more_body"):
            return bytes(body)
