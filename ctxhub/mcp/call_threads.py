"""The threads in which all calls of a process run, over MCP and REST, each with its own connection.

Their number limits the connections to the database; ctxhub.mcp.shares says whose call is next.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ctxhub.core.kit.read_limit import serve_calls
from ctxhub.mcp.shares import Share, Turns

P = ParamSpec("P")
T = TypeVar("T")

# Besides these, each write slot of a process has a thread.
THREADS = 4
SPARE_THREADS = 2


class _Work(NamedTuple):
    run: Callable[[], Any]
    future: "Future[Any]"

    def do(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.run()
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


_Turn = tuple[Share | None, _Work]


class CallThreads:
    """Threads that are started when they are needed, and then stay."""

    def __init__(self, threads: int = THREADS, spare: int = SPARE_THREADS) -> None:
        self._turns: Turns[_Work] = Turns(threads, spare)
        self._lock = threading.Lock()
        self._started = 0
        # Last in, first out: the thread with the warm connection serves next.
        self._idle: list[SimpleQueue[_Turn]] = []

    def submit(self, share: Share | None, run: Callable[[], T]) -> "Future[T]":
        """Run it when it is the share's turn; None: at once, for who holds a write slot."""
        future: Future[T] = Future()
        with self._lock:
            if share is None:
                self._give((share, _Work(run, future)))
            else:
                self._turns.add(share, _Work(run, future))
            while turn := self._turns.next():
                self._give(turn)
        return future

    def _give(self, turn: _Turn) -> None:
        if self._idle:
            self._idle.pop().put(turn)
            return
        self._started += 1
        threading.Thread(
            target=self._serve, args=[turn], name=f"ctxhub-call-{self._started}", daemon=True
        ).start()

    def _serve(self, turn: _Turn | None) -> None:
        serve_calls()
        mine: SimpleQueue[_Turn] = SimpleQueue()
        while True:
            share, work = turn or mine.get()
            work.do()
            del work  # What it holds is not kept while the thread waits.
            with self._lock:
                if share is not None:
                    self._turns.end(share)
                turn = self._turns.next()
                if turn is None:
                    self._idle.append(mine)
                while turn and (another := self._turns.next()):
                    self._give(another)


threads = CallThreads()


async def run_for(share: Share | None, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """As `submit`, with a copy of the context variables."""
    context = copy_context()
    return await asyncio.wrap_future(threads.submit(share, lambda: context.run(function, *args, **kwargs)))
