"""A fixed set of worker threads for Django's requests, each with its own database connection.

By itself Django's ASGI handler starts a new thread for every request, which opens a new connection.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from asgiref.sync import ThreadSensitiveContext

from ctxhub.mcp.write_slots import write_slot

WORKER_THREADS = 8

_PROJECT = re.compile(r"/api/v1/projects/([^/]+)/")
_READS = ("GET", "HEAD", "OPTIONS")


class WorkerThreads:
    def __init__(self, count: int = WORKER_THREADS) -> None:
        # Last in, first out: the thread with the warm connection serves next.
        self._free: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
        for number in range(count):
            self._free.put_nowait(ThreadPoolExecutor(1, thread_name_prefix=f"ctxhub-web-{number}"))

    @asynccontextmanager
    async def acquire(self, method: str, path: str) -> AsyncIterator[None]:
        """Hold a worker thread for one request; further requests wait for the next free thread.

        A write to a project first waits for one of its write slots.
        """
        async with _write_slot(method, path):
            worker_thread = await self._free.get()
            try:
                async with ThreadSensitiveContext(executor=worker_thread):
                    yield
            finally:
                self._free.put_nowait(worker_thread)


def _write_slot(method: str, path: str) -> AbstractAsyncContextManager[object]:
    project = _PROJECT.match(path)
    return nullcontext() if method in _READS or project is None else write_slot(project[1])
