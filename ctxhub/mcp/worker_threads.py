"""A fixed set of worker threads for Django's requests, each with its own database connection.

By itself Django's ASGI handler starts a new thread for every request, which opens a new connection.
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
        # Last in, first out: the thread with the warm connection serves next.
        self._free: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
        for number in range(count):
            self._free.put_nowait(ThreadPoolExecutor(1, thread_name_prefix=f"ctxhub-web-{number}"))
        self._write_slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def acquire(self, method: str, path: str) -> AsyncIterator[None]:
        """Hold a worker thread for one request; further requests wait for the next free thread.

        Writes of one project are serialised anyway: they occupy at most WORKER_THREADS_OF_A_PROJECT threads,
        so that the others stay free.
        """
        async with self._write_slot(method, path):
            worker_thread = await self._free.get()
            try:
                async with ThreadSensitiveContext(executor=worker_thread):
                    yield
            finally:
                self._free.put_nowait(worker_thread)

    def _write_slot(self, method: str, path: str) -> asyncio.Semaphore:
        project = _PROJECT.match(path)
        if method in _READS or project is None:
            return asyncio.Semaphore()
        return self._write_slots.setdefault(project[1], asyncio.Semaphore(WORKER_THREADS_OF_A_PROJECT))
