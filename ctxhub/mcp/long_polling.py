"""Long polling: runs a call, and runs it again on new events while it asks to wait for them."""

from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

from ctxhub.core.events.waiting import LongPoll
from ctxhub.core.kit.replaced_file import switches
from ctxhub.mcp.wakeups import watch

T = TypeVar("T")


async def with_long_polling(attempt: Callable[[], Awaitable[T]]) -> T:
    """The answer of the first attempt that finds something, else of the last one before its time limit."""
    long_poll, started = LongPoll(), monotonic()
    with long_poll.at_work():
        return await repeat_on_events(long_poll, started, await attempt(), attempt)


async def repeat_on_events(
    long_poll: LongPoll, started: float, answer: T, attempt: Callable[[], Awaitable[T]]
) -> T:
    """The same once there is an `answer` of the first attempt. Attempts find `long_poll` in their context.

    Once the database is replaced nothing is attempted again: who asks was found in another one.
    """
    began_on = switches()
    while True:
        wanted, long_poll.wanted, long_poll.is_again = long_poll.wanted, None, True
        if wanted is None:
            return answer
        seconds_left = started + wanted.seconds - monotonic()
        if seconds_left <= 0 or not await watch.wait_for_event(wanted, seconds_left):
            return answer
        if switches() != began_on:
            return answer
        answer = await attempt()
