"""Lets the workers of `serve` begin to listen together, so that each gets its share of the clients."""

import asyncio
import multiprocessing
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event

from ctxhub.core.kit.frozen import frozen

MOST_SECONDS = 10.0
"""One that fails to start holds the others up for so long."""


@frozen
class Starts:
    """How many of the workers have started; each gets it with its socket.

    After a restart all clients come back at once and keep their connections: all to the worker that is the
    first to listen, while the others stay idle. One that replaces another waits for nobody.
    """

    workers: int
    started: "Synchronized[int]"
    all_started: Event

    @classmethod
    def of(cls, workers: int) -> "Starts | None":
        """None where processes cannot share memory: each listens as soon as it can."""
        context = multiprocessing.get_context("spawn")
        try:
            return cls(workers, context.Value("i", 0), context.Event())
        except (ImportError, OSError):
            return None

    def add(self) -> None:
        with self.started.get_lock():
            self.started.value += 1
            if self.started.value >= self.workers:
                self.all_started.set()

    def wait(self) -> bool:
        """Wait for all; whether they have started in time."""
        return self.all_started.wait(MOST_SECONDS)


# Of this process, if it is one of several workers.
of_this_worker: list[Starts] = []


async def wait_for_others() -> None:
    for starts in of_this_worker:
        starts.add()
        await asyncio.to_thread(starts.wait)
