"""From the event loop to the database: a small pool of threads of our own, with clean connections."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 4

_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="ctxhub-db")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what touches the database off the loop; the caller's context variables go with it.

    MCP requests pass by Django's request signals, so connections are checked here, before and after.
    """
    context = contextvars.copy_context()

    def work() -> T:
        close_old_connections()
        try:
            return context.run(function, *args, **kwargs)
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(_pool, work)


_turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()


async def in_turn(project_id: int, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """As `in_thread`, one at a time in each project: its other writers would only wait, each in a thread."""
    turn = _turns.setdefault(project_id, asyncio.Lock())
    async with turn:
        return await in_thread(function, *args, **kwargs)
