"""Write slots: MCP and REST writers of a project wait for them in one order."""

import asyncio
from weakref import WeakValueDictionary

WRITES_OF_A_PROJECT = 2

_slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()


def write_slot(slug: str) -> asyncio.Semaphore:
    """What a write to the project holds before it occupies a thread: first come, first served.

    Its writers are serialised anyway. One works while the next prepares; more would only occupy threads.
    """
    return _slots.setdefault(slug, asyncio.Semaphore(WRITES_OF_A_PROJECT))
