"""Threads for Django's requests: a few that stay, each with its own database connection.

By itself Django's ASGI handler takes a new thread for every request, and so opens a connection for it.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from asgiref.sync import ThreadSensitiveContext

WORKER_THREADS = 8
WORKER_THREADS_OF_A_PROJECT = 4

_PROJECT = re.compile(r"/api/v1/projects/([^/]+)/")
_READS = ("GET", "HEAD", "OPTIONS")


class WorkerThreads:
    def __init__(self, count: int = WORKER_THREADS) -> None:
        # Last in, first out: the thread whose connection is warm serves next.
        self._free: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
        for number in range(count):
            self._free.put_nowait(ThreadPoolExecutor(1, thread_name_prefix=f"ctxhub-web-{number}"))
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def one(self, method: str, path: str) -> AsyncIterator[None]:
        """One request at a time in a lane; others wait for the next that is free.

        Writers of one project follow one another anyway: they never wait in all lanes, so that others get on.
        """
        async with self._turn(method, path):
            worker_thread = await self._free.get()
            try:
                async with ThreadSensitiveContext(executor=worker_thread):
                    yield
            finally:
                self._free.put_nowait(worker_thread)

    def _turn(self, method: str, path: str) -> asyncio.Semaphore:
        project = _PROJECT.match(path)
        if method in _READS or project is None:
            return asyncio.Semaphore()
        return self._turns.setdefault(project[1], asyncio.Semaphore(WORKER_THREADS_OF_A_PROJECT))
