"""What falls due while nobody writes: a serving process looks after every project once a minute."""

import asyncio
import logging

from ctxhub.core.events.services.retention import cleanup_sometimes
from ctxhub.core.kit import clock
from ctxhub.core.kit.failures import log_failure
from ctxhub.core.models import Project
from ctxhub.mcp.db_threads import in_thread

EVERY_SECONDS = 60


async def keep_house() -> None:
    """Until it is cancelled."""
    while True:
        await asyncio.sleep(EVERY_SECONDS)
        try:
            for project_id in await in_thread(_projects):
                await in_thread(cleanup_sometimes, project_id, clock.now())
        except Exception as error:  # Whatever it is, the next minute may be a better one.
            log_failure("cleaning up", error, level=logging.WARNING)


def _projects() -> list[int]:
    return list(Project.objects.order_by("pk").values_list("pk", flat=True))
