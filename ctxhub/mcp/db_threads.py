"""Runs what the event loop needs the database for in the threads of calls, and closes stale connections."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

from ctxhub.core.kit.asked_lately import trust_if_asked_lately
from ctxhub.core.kit.replaced_file import leave_replaced_if_due
from ctxhub.mcp.call_threads import run_for
from ctxhub.mcp.shares import Share
from ctxhub.mcp.write_slots import write_slot

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def checked_connections() -> Iterator[None]:
    """Check this thread's connections before and after: MCP requests do not send Django's request signals."""
    close_old_connections()
    leave_replaced_if_due()
    trust_if_asked_lately()
    try:
        yield
    finally:
        close_old_connections()


async def run_in_thread(
    share: Share | None, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Run a function that uses the database when it is the share's turn; None: at once."""

    def work() -> T:
        with checked_connections():
            return function(*args, **kwargs)

    return await run_for(share, work)


async def run_write(slug: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Like `run_in_thread`, once one of the project's write slots is free."""
    async with write_slot(slug):
        return await run_in_thread(None, function, *args, **kwargs)
