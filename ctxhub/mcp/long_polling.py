"""Runs a call and, where it says that it waits for news, again when there are some."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from ctxhub.core.events.waiting import Patience
from ctxhub.mcp.watch import watch

T = TypeVar("T")


async def patiently(attempt: Callable[[], Awaitable[T]]) -> T:
    """The answer of the first attempt that finds something, or of the last one in the time it asked for."""
    patience, started = Patience(), monotonic()
    with patience.at_work():
        while True:
            answer = await attempt()
            wanted, patience.wanted, patience.is_again = patience.wanted, None, True
            if wanted is None:
                return answer
            left = started + wanted.seconds - monotonic()
            if left <= 0 or not await watch.for_news(wanted, left):
                return answer
