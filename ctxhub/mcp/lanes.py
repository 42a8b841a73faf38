"""Threads for Django's requests: a few that stay, each with its own database connection.

By itself Django's ASGI handler takes a new thread for every request, and so opens a connection for it.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from asgiref.sync import ThreadSensitiveContext

LANES = 8


class Lanes:
    def __init__(self, count: int = LANES) -> None:
        # Last in, first out: the thread whose connection is warm serves next.
        self._free: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
        for number in range(count):
            self._free.put_nowait(ThreadPoolExecutor(1, thread_name_prefix=f"ctxhub-web-{number}"))

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """One request at a time in a lane; others wait for the next that is free."""
        lane = await self._free.get()
        try:
            async with ThreadSensitiveContext(executor=lane):
                yield
        finally:
            self._free.put_nowait(lane)
