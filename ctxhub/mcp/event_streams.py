"""Server-sent events: sends what requests have declared to follow, without a thread or a connection each.

Nothing waits in memory that a reader could miss: the log is the queue, and the id of an event its cursor.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ctxhub.core.accounts.listeners import Listener
from ctxhub.core.events.following import Follow, Told
from ctxhub.core.events.log import read_new_events
from ctxhub.core.kit.errors import LimitReached
from ctxhub.core.kit.failures import log_failure
from ctxhub.core.kit.served import streaming
from ctxhub.mcp.connections import ABORT
from ctxhub.mcp.db_threads import run_in_thread
from ctxhub.mcp.feeds import Feeds
from ctxhub.mcp.shares import Share
from ctxhub.mcp.wakeups import watch

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

MOST_OF_LISTENER = 20
MOST = 500
SECONDS_BETWEEN_COMMENTS = 15.0
# To a reader that takes nothing for so long nothing more is sent.
SECONDS_TO_TAKE = 20.0
SECONDS_TO_RETRY = 10
REPLAYED_AT_ONCE = 1_000
MOST_BYTES_AT_ONCE = 64 * 1024

ADDRESS_ENDS = "/events/"
HEADERS = [
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would collect what is sent.
]
_REPLACED = {b"content-length", *(name for name, _ in HEADERS)}


def may_stream(scope: Scope) -> bool:
    return scope["method"] == "GET" and str(scope["path"]).endswith(ADDRESS_ENDS)


class EventStreams:
    """The open streams of a process."""

    def __init__(self) -> None:
        self._feeds = Feeds()

    def __len__(self) -> int:
        return len(self._feeds)

    def refusal(self, listener: Listener) -> tuple[int, LimitReached] | None:
        """The status and error where no more streams may be opened."""
        if watch.is_ending:
            return 503, LimitReached("The hub is ending.", retry_after=SECONDS_TO_RETRY)
        if len(self._feeds) >= MOST:
            message = f"This process has {MOST} event streams, and opens no more."
            return 503, LimitReached(message, hint="Try again soon.", retry_after=SECONDS_TO_RETRY)
        if self._feeds.count_of(listener.counted_as) >= MOST_OF_LISTENER:
            message = f"You have {MOST_OF_LISTENER} event streams open, and may open no more."
            return 429, LimitReached(message, hint="Close some.", retry_after=SECONDS_TO_RETRY)
        return None

    async def serve(
        self, follow: Follow, share: Share, start: Message, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Send the stream until its reader is gone, it ends, or its reader takes nothing."""
        kept = [header for header in start["headers"] if header[0].lower() not in _REPLACED]
        stream = _Stream(follow, share, self._feeds, send)
        self._feeds.add(stream, follow.newest)
        leaving = asyncio.create_task(_until_gone(receive))
        leaving.add_done_callback(lambda _: stream.leave())
        try:
            await send({**start, "headers": [*kept, *HEADERS]})
            with streaming():
                await stream.run()
        except TimeoutError:
            if abort := scope.get(ABORT):
                abort()
        finally:
            leaving.cancel()
            self._feeds.remove(stream)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _Stream:
    """Sends to one reader. Belongs to the event loop."""

    def __init__(self, follow: Follow, share: Share, feeds: Feeds, send: Send) -> None:
        self._follow, self._share, self._feeds, self._to_reader = follow, share, feeds, send
        self.seen = dict(follow.after)
        self.is_live = False
        self._replayed = 0
        self._told_id = max(self.seen.values(), default=0)  # The last one told by itself.
        self._is_ended = self._is_gone = False
        self._news = asyncio.Event()
        self._limit: asyncio.Timeout | None = None

    @property
    def listener(self) -> Listener:
        return self._follow.listener

    def wake(self) -> None:
        self._news.set()

    def end(self) -> None:
        """End after what is being sent; a reader that does not take that is cut off."""
        self._is_ended = True
        self._news.set()
        if self._limit:
            self._limit.reschedule(asyncio.get_running_loop().time())
            self._limit = None

    def leave(self) -> None:
        self._is_gone = True
        self.end()

    async def run(self) -> None:
        """Raises TimeoutError if the reader takes nothing."""
        await self._send(self._follow.beginning())
        try:
            await self._go_on()
        except Exception as error:  # The database is away: the reader comes back.
            if isinstance(error, TimeoutError):
                raise
            log_failure("sending an event stream", error)
        if not self._is_gone:
            async with self._in_time(1.0):
                await self._to_reader({"type": "http.response.body", "body": self._follow.ending()})

    async def _go_on(self) -> None:
        for project_id, newest in self._follow.newest.items():
            if self.seen[project_id] > newest:  # An id of another database, or of none.
                await self._reset(project_id)
        while not self._is_ended:
            self._news.clear()
            for project_id in self.seen:
                await self._catch_up(project_id)
            self.is_live = True
            await self._rest()

    async def _catch_up(self, project_id: int) -> None:
        feed = self._feeds.of(project_id)
        while self.seen[project_id] < feed.start and not self._is_ended:
            left = self._follow.most_replayed - self._replayed
            if left <= 0:
                await self._reset(project_id)
                return
            await self._replay(project_id, min(left, REPLAYED_AT_ONCE))
        if not self._is_ended and self.seen[project_id] < feed.last:
            await self._tell(project_id, feed.after(self.seen[project_id]), feed.last)

    async def _replay(self, project_id: int, limit: int) -> None:
        """Send earlier events, up to where the feed begins."""
        start, seen = self._feeds.of(project_id).start, self.seen[project_id]
        told = await run_in_thread(self._share, _read, project_id, seen, limit)
        earlier = [each for each in told if each.event.id <= start]
        self._replayed += len(earlier)
        last = earlier[-1].event.id if len(earlier) == limit else start
        await self._tell(project_id, earlier, last)

    async def _reset(self, project_id: int) -> None:
        self.seen[project_id] = self._told_id = self._feeds.of(project_id).last
        await self._send(self._follow.reset(self.seen[project_id]))

    async def _tell(self, project_id: int, told: Sequence[Told], last: int) -> None:
        """Send what the stream wants of these events, which are all up to the id `last`."""
        for part in _in_parts(self._follow.frames(told)):
            await self._send(part)
        self.seen[project_id] = last

    async def _rest(self) -> None:
        """Wait for news; send a comment from time to time, with the id of what the reader need not hear."""
        try:
            async with asyncio.timeout(SECONDS_BETWEEN_COMMENTS):
                await self._news.wait()
        except TimeoutError:
            await self._send(self._comment())

    def _comment(self) -> bytes:
        last = max(self.seen.values(), default=0)
        if len(self.seen) != 1 or last == self._told_id:
            return self._follow.comment(None)
        self._told_id = last
        return self._follow.comment(last)

    async def _send(self, body: bytes) -> None:
        async with self._in_time(SECONDS_TO_TAKE):
            await self._to_reader({"type": "http.response.body", "body": body, "more_body": True})

    @asynccontextmanager
    async def _in_time(self, seconds: float) -> AsyncIterator[None]:
        async with asyncio.timeout(seconds) as self._limit:
            try:
                yield
            finally:
                self._limit = None


def _read(project_id: int, after: int, limit: int) -> list[Told]:
    return [Told.of(event) for event in read_new_events(project_id, after, limit)]


def _in_parts(frames: Iterator[bytes]) -> Iterator[bytes]:
    """Join frames to parts of about 64 KiB, so that no more waits for a slow reader."""
    part: list[bytes] = []
    size = 0
    for frame in frames:
        part.append(frame)
        size += len(frame)
        if size >= MOST_BYTES_AT_ONCE:
            yield b"".join(part)
            part, size = [], 0
    if part:
        yield b"".join(part)
