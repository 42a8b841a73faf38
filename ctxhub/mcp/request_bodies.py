"""A request's body, read whole before Django's turn: who sends slowly holds no thread, and none is too long.

By itself Django stores a body on disk before it looks at its length or at who sent it.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.conf import settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

SECONDS_TO_SEND = 60.0


class TooLong(Exception):
    """The body has more bytes than are taken."""

    def __init__(self, at_most: int) -> None:
        super().__init__()
        self.at_most = at_most


class TooSlow(Exception):
    """The body did not come in time."""


class Gone(Exception):
    """Whoever asked has hung up."""


async def whole_body(headers: dict[str, str], receive: Receive, *, at_most: int | None = None) -> bytes:
    """The body, once all of it is there, of so many bytes or REST's most. Raises TooLong, TooSlow or Gone."""
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE if at_most is None else at_most
    said = headers.get("content-length", "")
    if said.isdigit() and int(said) > limit:
        raise TooLong(limit)
    try:
        async with asyncio.timeout(SECONDS_TO_SEND):
            return await _whole(receive, limit)
    except TimeoutError as error:
        raise TooSlow from error


def with_body(body: bytes, receive: Receive) -> Receive:
    """`receive` for an application that finds the whole body at once."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again


async def _whole(receive: Receive, limit: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body += message.get("body", b"")
        if len(body) > limit:
            raise TooLong(limit)
        if not message.get("more_body"):
            return bytes(body)
