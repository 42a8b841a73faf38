"""A fixed set of worker threads for Django's requests, each with its own database connection.

By itself Django's ASGI handler starts a new thread for every request, which opens a new connection.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from asgiref.sync import ThreadSensitiveContext

WORKER_THREADS = 8


class WorkerThreads:
    def __init__(self, count: int = WORKER_THREADS) -> None:
        # Last in, first out: the thread with the warm connection serves next.
        self._free: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
        for number in range(count):
            self._free.put_nowait(ThreadPoolExecutor(1, thread_name_prefix=f"ctxhub-web-{number}"))

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[None]:
        """Hold a worker thread for one request; further requests wait for the next free thread."""
        worker_thread = await self._free.get()
        try:
            async with ThreadSensitiveContext(executor=worker_thread):
                yield
        finally:
            self._free.put_nowait(worker_thread)
