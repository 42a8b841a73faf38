"""Write slots: MCP and REST writers of a project wait for them in one order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from weakref import WeakValueDictionary

from ctxhub.core.kit.served import SLOT_WAIT, step
from ctxhub.core.kit.write_queue import QUEUE, QueueTimeout, describe, waited_before

WRITES_OF_A_PROJECT = 2
# Each has a thread of its own: writers may wait for a stopped process, and leave the others to readers.
WRITES_OF_A_PROCESS = 3
_PROCESS = ""

_semaphores: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()


@asynccontextmanager
async def write_slot(slug: str) -> AsyncIterator[None]:
    """Hold a write slot of the project before a write occupies a thread: first come, first served.

    Its writers are serialised anyway. One works while the next prepares; more would only occupy threads.
    Raises QueueTimeout after 20 s; what was waited here is taken from the wait for the write lock.
    """
    started = monotonic()
    until = started + QUEUE.most_seconds
    async with _slot(slug, WRITES_OF_A_PROJECT, until), _slot(_PROCESS, WRITES_OF_A_PROCESS, until):
        before = waited_before.set(monotonic() - started)
        try:
            yield
        finally:
            waited_before.reset(before)


@asynccontextmanager
async def _slot(name: str, count: int, until: float) -> AsyncIterator[None]:
    semaphore = _semaphores.setdefault(name, asyncio.Semaphore(count))
    try:
        with step(SLOT_WAIT):
            async with asyncio.timeout(until - monotonic()):
                await semaphore.acquire()
    except TimeoutError as error:
        raise QueueTimeout(describe(None)) from error
    try:
        yield
    finally:
        semaphore.release()
