"""Wakes the calls that wait, in whichever process the news came about: one thread and connection for all."""

import asyncio
import logging
import select
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import connection

from ctxhub.core.events.selectors.events import NewEvent, read_new_events
from ctxhub.core.events.services.events import CHANNEL
from ctxhub.core.events.waiting import Wanted
from ctxhub.core.kit.failures import log_failure

LOOK_EVERY_SECONDS = 0.05
SECONDS_AFTER_FAILURE = 1.0


@dataclass(slots=True, eq=False)
class _Waiter:
    wanted: Wanted
    loop: asyncio.AbstractEventLoop
    woken: asyncio.Event

    def wake(self) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.woken.set)


class Watch:
    """Looks at the log for everybody who waits, whenever the database has changed.

    PostgreSQL says so itself (NOTIFY); SQLite's `data_version`, which costs microseconds, is looked at as
    long as somebody waits.
    """

    def __init__(self) -> None:
        self._waiters: set[_Waiter] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._door, self._knock = socket.socketpair()

    async def for_news(self, wanted: Wanted, seconds: float) -> bool:
        """Whether what is wanted came within so many seconds."""
        waiter = _Waiter(wanted, asyncio.get_running_loop(), asyncio.Event())
        self._add(waiter)
        try:
            async with asyncio.timeout(seconds):
                await waiter.woken.wait()
        except TimeoutError:
            return False
        finally:
            with self._lock:
                self._waiters.discard(waiter)
        return True

    def _add(self, waiter: _Waiter) -> None:
        with self._lock:
            self._waiters.add(waiter)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="ctxhub-watch", daemon=True)
                self._thread.start()
        self._knock.send(b".")

    # -- In the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            try:
                self._watch()
            except Exception as error:  # Whatever it is, those who wait rely on this thread.
                log_failure("watching the events", error, level=logging.WARNING)
                connection.close()
                time.sleep(SECONDS_AFTER_FAILURE)

    def _watch(self) -> None:
        """Look once, since something may have come while nobody looked; then with every change."""
        source = _Postgres() if connection.vendor == "postgresql" else _Sqlite()
        self._look()
        while True:
            if source.has_changed() or self._pause(source):
                self._look()

    def _pause(self, source: "_Postgres | _Sqlite") -> bool:
        """Until there may be news; whether somebody has come to wait, who may have missed some."""
        pause = source.pause if self._waiting() else None
        door = self._door.fileno()
        ready, _, _ = select.select([door, *source.files], [], [], pause)
        return door in ready and bool(self._door.recv(4_096))

    def _waiting(self) -> list[_Waiter]:
        with self._lock:
            return list(self._waiters)

    def _look(self) -> None:
        """One query for each project that somebody waits in."""
        of_project: dict[int, list[_Waiter]] = defaultdict(list)
        for waiter in self._waiting():
            of_project[waiter.wanted.project_id].append(waiter)
        for project_id, waiting in of_project.items():
            events = read_new_events(project_id, min(waiter.wanted.after for waiter in waiting))
            for waiter in waiting:
                _tell(waiter, events)


def _tell(waiter: _Waiter, events: Sequence[NewEvent]) -> None:
    if any(waiter.wanted.is_news(event) for event in events):
        waiter.wake()
    elif events:
        waiter.wanted = replace(waiter.wanted, after=max(waiter.wanted.after, events[-1].id))


class _Postgres:
    """Notices that came with the answer to another query lie ready, where no socket tells of them."""

    pause = 1.0

    def __init__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"LISTEN {CHANNEL}")
        self._connection = connection.connection
        self.files: Sequence[int] = [self._connection.fileno()]

    def has_changed(self) -> bool:
        return bool(list(self._connection.notifies(timeout=0)))


class _Sqlite:
    """Another connection's commit changes `data_version`."""

    pause = LOOK_EVERY_SECONDS
    files: Sequence[int] = ()

    def __init__(self) -> None:
        self._seen = self._version()

    def has_changed(self) -> bool:
        before, self._seen = self._seen, self._version()
        return before != self._seen

    def _version(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA data_version")
            return int(cursor.fetchone()[0])


watch = Watch()
