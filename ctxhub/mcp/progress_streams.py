"""Answers a POST to `/mcp` by a stream of events, once there is progress to tell before the answer."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from pydantic_core import to_json

from ctxhub.mcp import media_types
from ctxhub.mcp.http_messages import Reply
from ctxhub.mcp.progress import TOKEN, Message, Tell
from ctxhub.mcp.refusals import Send, with_ids

START: dict[str, Any] = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", media_types.EVENTS.encode()),
        (b"cache-control", b"no-store"),
        (b"x-accel-buffering", b"no"),  # nginx would collect what is sent.
    ],
}


def may_stream_progress(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether a client asks for progress, and names streams of events among what it takes."""
    return TOKEN.encode() in body and media_types.names_events(headers)


async def answer_with_progress(
    answer: Callable[[Tell], Coroutine[Any, Any, Reply]], send: Send
) -> Reply | None:
    """The reply; None if progress came before it: then all was sent.

    To a reader that is slow the last progress alone is sent.
    """
    told = _Told(asyncio.get_running_loop())
    answering = asyncio.create_task(answer(told.tell))
    answering.add_done_callback(lambda _: told.wake())
    has_begun = False
    try:
        while not answering.done() or told.latest:
            if message := await told.next():
                if not has_begun:
                    await send(START)
                has_begun = True
                await send({"type": "http.response.body", "body": event_of(message), "more_body": True})
    except asyncio.CancelledError:
        answering.cancel()
        raise
    reply = await answering
    if not has_begun:
        return reply
    await send({"type": "http.response.body", "body": event_of(with_ids(reply.message))})
    return None


def event_of(message: Any) -> bytes:
    return b"event: message\ndata: %b\n\n" % to_json(message, inf_nan_mode="null")


class _Told:
    """The last notification that is not sent yet, and a way to wait for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._news = asyncio.Event()
        self.latest: Message | None = None

    def tell(self, message: Message) -> None:
        """From the thread of the call."""
        with suppress(RuntimeError):  # The process is ending.
            self._loop.call_soon_threadsafe(self._put, message)

    def _put(self, message: Message) -> None:
        self.latest = message
        self.wake()

    def wake(self) -> None:
        self._news.set()

    async def next(self) -> Message | None:
        """The next one, when there is one; None at the end."""
        await self._news.wait()
        self._news.clear()
        message, self.latest = self.latest, None
        return message
