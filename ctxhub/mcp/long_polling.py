"""Runs a call and, where it says that it waits for news, again when there are some."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from ctxhub.core.events.waiting import LongPoll
from ctxhub.mcp.watch import watch

T = TypeVar("T")


async def with_long_polling(attempt: Callable[[], Awaitable[T]]) -> T:
    """The answer of the first attempt that finds something, or of the last one in the time it asked for."""
    long_poll, started = LongPoll(), monotonic()
    with long_poll.at_work():
        while True:
            answer = await attempt()
            wanted, long_poll.wanted, long_poll.is_again = long_poll.wanted, None, True
            if wanted is None:
                return answer
            left = started + wanted.seconds - monotonic()
            if left <= 0 or not await watch.for_news(wanted, left):
                return answer
