"""The calls of a stdio connection that wait for events, beside those that are answered meanwhile."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial

from ctxhub.core.events.waiting import LongPoll
from ctxhub.mcp.db_threads import run_in_thread
from ctxhub.mcp.json_rpc import Id
from ctxhub.mcp.long_polling import repeat_on_events
from ctxhub.mcp.requests import Result, Work
from ctxhub.mcp.shares import HUB


@dataclass(slots=True, eq=False)
class WaitingCall:
    """A call whose first run has found nothing; `result` is what that run would answer."""

    request_id: Id
    work: Work
    result: Result
    long_poll: LongPoll
    started: float
    future: "Future[None] | None" = None


class WaitingCalls:
    """Each is answered once, by `answer`, or cancelled. They share a thread with an event loop."""

    def __init__(self, answer: Callable[[Id, Result], None]) -> None:
        self._answer = answer
        self._calls: set[WaitingCall] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, call: WaitingCall) -> None:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="ctxhub-waiting", daemon=True).start()
        self._calls.add(call)
        call.future = asyncio.run_coroutine_threadsafe(self._run(call), self._loop)

    def cancel(self, request_id: Id) -> None:
        for call in [*self._calls]:
            if _same(call.request_id, request_id) and self._remove(call) and call.future:
                call.future.cancel()

    def finish(self, seconds: float) -> Iterator[Id]:
        """Wait for them; yields the ids of those that have no answer after so many seconds."""
        wait([call.future for call in [*self._calls] if call.future], timeout=seconds)
        for call in [*self._calls]:
            if self._remove(call):
                yield call.request_id

    async def _run(self, call: WaitingCall) -> None:
        attempt = partial(run_in_thread, HUB, call.work.run)
        with call.long_poll.at_work():
            try:
                result = await repeat_on_events(call.long_poll, call.started, call.result, attempt)
            except Exception as error:
                result = call.work.failed(error)
        if self._remove(call):
            self._answer(call.request_id, result)

    def _remove(self, call: WaitingCall) -> bool:
        """Whether it was still there: who removes a call answers it, or nobody does."""
        try:
            self._calls.remove(call)
        except KeyError:
            return False
        return True


def _same(one: Id, other: Id) -> bool:
    """Some clients send a number as a text when they cancel."""
    return str(one) == str(other)
