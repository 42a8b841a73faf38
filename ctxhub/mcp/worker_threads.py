"""A fixed set of worker threads for Django's requests, each with its own database connection.

By itself Django's ASGI handler starts a new thread for every request, which opens a new connection.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

WORKER_THREADS = 8


class WorkerThreads:
    def __init__(self, count: int = WORKER_THREADS) -> None:
        # Last in, first out: the thread with the warm connection serves next.
        self._free: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
        for number in range(count):
            self._free.put_nowait(ThreadPoolExecutor(1, thread_name_prefix=f"ctxhub-web-{number}"))

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a worker thread once one is free, with a copy of the context variables."""
        context = copy_context()
        worker_thread = await self._free.get()
        try:
            return await asyncio.get_running_loop().run_in_executor(
                worker_thread, lambda: context.run(function, *args, **kwargs)
            )
        finally:
            self._free.put_nowait(worker_thread)
