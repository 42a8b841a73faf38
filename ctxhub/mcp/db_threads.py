"""Runs database work of the event loop in a small thread pool, and closes stale connections."""

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

from ctxhub.mcp.write_slots import write_slot

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 4

_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="ctxhub-db")


@contextmanager
def checked_connections() -> Iterator[None]:
    """Check this thread's connections before and after: MCP requests do not send Django's request signals."""
    close_old_connections()
    try:
        yield
    finally:
        close_old_connections()


async def run_in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that uses the database in the pool, with a copy of the caller's context variables."""
    context = contextvars.copy_context()

    def work() -> T:
        with checked_connections():
            return context.run(function, *args, **kwargs)

    return await asyncio.get_running_loop().run_in_executor(_pool, work)


async def run_write(slug: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Like `run_in_thread`, once one of the project's write slots is free."""
    async with write_slot(slug):
        return await run_in_thread(function, *args, **kwargs)
