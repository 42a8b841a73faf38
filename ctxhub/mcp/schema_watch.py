"""Looks every 20 seconds whether a newer version has migrated the database of a serving process."""

import asyncio

from ctxhub.core.kit.newer_schema import SECONDS_BETWEEN_LOOKS, look_if_due
from ctxhub.mcp.db_threads import run_in_thread
from ctxhub.mcp.shares import HUB


async def watch_schema() -> None:
    """Run until cancelled."""
    while True:
        await run_in_thread(HUB, look_if_due)
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
