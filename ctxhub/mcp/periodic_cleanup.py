"""Periodic cleanup: a serving process runs the due cleanup tasks of every project once a minute.

It covers projects that nobody writes to.
"""

import asyncio
import logging

from ctxhub.core.events.cleanup import cleanup_sometimes
from ctxhub.core.kit import clock
from ctxhub.core.kit.failures import log_failure
from ctxhub.core.models import Project
from ctxhub.core.transfer.importing import end_cut_off
from ctxhub.mcp.db_threads import run_in_thread
from ctxhub.mcp.shares import HUB

EVERY_SECONDS = 60


async def run_periodic_cleanup() -> None:
    """Run until cancelled."""
    while True:
        await asyncio.sleep(EVERY_SECONDS)
        try:
            for project_id in await run_in_thread(HUB, _project_ids):
                await run_in_thread(HUB, cleanup_sometimes, project_id, clock.now())
            await run_in_thread(HUB, end_cut_off)
        except Exception as error:  # Any error: the next minute may succeed.
            log_failure("cleaning up", error, level=logging.WARNING)


def _project_ids() -> list[int]:
    return list(Project.objects.order_by("pk").values_list("pk", flat=True))
