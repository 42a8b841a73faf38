"""The worker of webhooks in a serving process: it waits for events and times, and starts what is due.

Sending has threads of its own, which the calls of agents do not wait for. A webhook that waits occupies none.
"""

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from secrets import token_hex
from typing import Any

from django.db import connections

from ctxhub.core.events.waiting import Wanted
from ctxhub.core.kit import clock
from ctxhub.core.kit.failures import log_failure
from ctxhub.core.kit.replaced_file import leave_replaced_if_due
from ctxhub.core.webhooks.delivering import deliver_due
from ctxhub.core.webhooks.due import Plan, plan_deliveries, workers
from ctxhub.core.webhooks.sending import SECONDS
from ctxhub.mcp.db_threads import run_in_thread
from ctxhub.mcp.shares import HUB
from ctxhub.mcp.wakeups import watch

THREADS = 4
# Webhooks that another process has added are noticed within so many seconds.
LONGEST_PAUSE_SECONDS = 10.0
SECONDS_AFTER_FAILURE = 1.0
# Many events in a row are one look at all webhooks.
SECONDS_BETWEEN_LOOKS = 0.05
# A try takes less, but for a resolver that does not answer.
SECONDS_TO_END = SECONDS + 2


async def deliver_webhooks() -> None:
    """Run until cancelled; then wait for the tries under way, at most some seconds, and start no others."""
    worker = _Worker(asyncio.get_running_loop())
    workers.append(worker.wake)
    try:
        await worker.run()
    finally:
        workers.remove(worker.wake)
        await worker.end()


class _Worker:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._name = token_hex(8)  # It holds the leases.
        self._woken = asyncio.Event()
        self._is_ending = threading.Event()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="ctxhub-webhooks")
        self._running: dict[int, asyncio.Future[None]] = {}

    def wake(self) -> None:
        with suppress(RuntimeError):  # The loop is closed.
            self._loop.call_soon_threadsafe(self._woken.set)

    async def run(self) -> None:
        while True:
            self._woken.clear()
            try:
                self._collect()
                plan = await run_in_thread(HUB, plan_deliveries, list(self._running), self._name)
            except Exception as error:  # Any error: the next time may succeed.
                log_failure("delivering webhooks", error, level=logging.WARNING)
                await asyncio.sleep(SECONDS_AFTER_FAILURE)
                continue
            for webhook_id in plan.due:
                self._running[webhook_id] = self._loop.run_in_executor(
                    self._threads, self._deliver, webhook_id
                )
            await self._pause(plan)
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)

    async def end(self) -> None:
        self._is_ending.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._running:
            await asyncio.wait(self._running.values(), timeout=SECONDS_TO_END)

    def _collect(self) -> None:
        """Forget what has ended. Raises its error."""
        for webhook_id, future in list(self._running.items()):
            if future.done():
                del self._running[webhook_id]
                future.result()

    async def _pause(self, plan: Plan) -> None:
        """Until an event is logged, a delivery has ended, a time has come, or something else woke it."""
        seconds = _seconds_until(plan.next_at)
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._woken.wait())]
        if plan.newest:
            wanted = Wanted(plan.newest, None, frozenset(), seconds)
            waits.append(asyncio.ensure_future(watch.wait_for_event(wanted, seconds)))
        try:
            await asyncio.wait(
                [*waits, *self._running.values()], timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for each in waits:
                each.cancel()

    def _deliver(self, webhook_id: int) -> None:
        try:
            leave_replaced_if_due()
            deliver_due(webhook_id, self._is_ending.is_set, self._name)
        finally:
            connections.close_all()


def _seconds_until(moment: datetime | None) -> float:
    if moment is None:
        return LONGEST_PAUSE_SECONDS
    return min(max((moment - clock.now()).total_seconds(), 0.0), LONGEST_PAUSE_SECONDS)
