"""Tells waiting calls and event streams of new events, logged by any process.

One thread and one connection serve all.
"""

import asyncio
import logging
import select
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from django.db import connection

from ctxhub.core.events.log import CHANNEL, NEW_EVENTS_READ, NewEvent, read_new_events
from ctxhub.core.events.waiting import Wanted
from ctxhub.core.kit.failures import log_failure
from ctxhub.core.kit.replaced_file import leave_replaced_if_due, when_replaced
from ctxhub.core.kit.served import waiting

POLL_SECONDS = 0.05
SECONDS_AFTER_FAILURE = 1.0


class Waiter(Protocol):
    """Who is told of the events after these ids, by project id. All of it runs in the thread of the watch."""

    @property
    def after(self) -> Mapping[int, int]: ...

    def take(self, project_id: int, known: int, events: Sequence[NewEvent]) -> None:
        """Hear of the events after the id `known`, which may be earlier than asked for; perhaps of none."""

    def wake(self) -> None:
        """Wait no longer: the process ends, or the database was replaced. Runs in any thread."""


@dataclass(slots=True, eq=False)
class _WaitingCall:
    wanted: Wanted
    loop: asyncio.AbstractEventLoop
    woken: asyncio.Event

    @property
    def after(self) -> Mapping[int, int]:
        return self.wanted.after

    def take(self, project_id: int, known: int, events: Sequence[NewEvent]) -> None:  # noqa: ARG002
        if any(self.wanted.is_news(project_id, event) for event in events):
            self.wake()
        elif events:
            self.wanted = self.wanted.having_seen(project_id, events[-1].id)

    def wake(self) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.woken.set)


class Watch:
    """Reads new events for all waiting calls and event streams whenever the database has changed.

    PostgreSQL notifies of changes (NOTIFY). On SQLite the thread polls `data_version`, which costs
    microseconds, while at least one call waits.

    `while_waiting`: functions that the thread also runs, at least once a second, while somebody waits.
    """

    def __init__(self) -> None:
        self._waiters: set[Waiter] = set()
        self.while_waiting: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self.is_ending = False
        self._thread: threading.Thread | None = None
        # A byte on this pair wakes the thread when a waiter arrives.
        self._wake_receiver, self._wake_sender = socket.socketpair()

    async def wait_for_event(self, wanted: Wanted, seconds: float) -> bool:
        """Whether a wanted event was logged within `seconds`; False at once while the process ends."""
        if self.is_ending:
            return False
        waiter = _WaitingCall(wanted, asyncio.get_running_loop(), asyncio.Event())
        self.add(waiter)
        try:
            with waiting():
                async with asyncio.timeout(seconds):
                    await waiter.woken.wait()
        except TimeoutError:
            return False
        finally:
            self.remove(waiter)
        return not self.is_ending

    def begin(self) -> None:
        """Let calls wait, as they do until `end`."""
        self.is_ending = False

    def end(self) -> None:
        """Let no call wait any longer: the process ends."""
        self.is_ending = True
        self.wake_all()

    def wake_all(self) -> None:
        for waiter in self._copy_of_waiters():
            waiter.wake()

    def add(self, waiter: Waiter) -> None:
        """Begin to tell it, or look again at what it waits for."""
        with self._lock:
            self._waiters.add(waiter)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="ctxhub-watch", daemon=True)
                self._thread.start()
        self._wake_sender.send(b".")

    def remove(self, waiter: Waiter) -> None:
        with self._lock:
            self._waiters.discard(waiter)

    # -- In the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            try:
                self._watch()
            except Exception as error:  # Any error: all waiters rely on this thread.
                log_failure("watching the events", error, level=logging.WARNING)
                connection.close()
                time.sleep(SECONDS_AFTER_FAILURE)

    def _watch(self) -> None:
        """Read events once, since some may have been logged before; then after every change."""
        source = _Postgres() if connection.vendor == "postgresql" else _Sqlite()
        self._notify_waiters()
        while True:
            if source.has_changed() or self._pause(source):
                self._notify_waiters()
            for work in self.while_waiting:
                work()

    def _pause(self, source: "_Postgres | _Sqlite") -> bool:
        """Sleep until something may have changed. True if a waiter has arrived: it may have missed events."""
        timeout = source.pause if self._copy_of_waiters() else None
        wake = self._wake_receiver.fileno()
        ready, _, _ = select.select([wake, *source.files], [], [], timeout)
        return wake in ready and bool(self._wake_receiver.recv(4_096))

    def _copy_of_waiters(self) -> list[Waiter]:
        with self._lock:
            return list(self._waiters)

    def _notify_waiters(self) -> None:
        """Runs one query for each project that has waiters; more where more than 10,000 events are new."""
        by_project: dict[int, list[tuple[Waiter, int]]] = defaultdict(list)
        for waiter in self._copy_of_waiters():
            for project_id, after in waiter.after.items():
                by_project[project_id].append((waiter, after))
        for project_id, waiters in by_project.items():
            known, events = min(after for _, after in waiters), None
            while events is None or len(events) == NEW_EVENTS_READ:
                events = read_new_events(project_id, known)
                for waiter, _ in waiters:
                    waiter.take(project_id, known, events)
                known = events[-1].id if events else known


class _Postgres:
    """A notification that came with the result of another query is queued; its socket does not report it."""

    pause = 1.0

    def __init__(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"LISTEN {CHANNEL}")
        self._connection = connection.connection
        self.files: Sequence[int] = [self._connection.fileno()]

    def has_changed(self) -> bool:
        with connection.wrap_database_errors:
            return bool(list(self._connection.notifies(timeout=0)))


class _Sqlite:
    """`data_version` changes when another connection commits."""

    pause = POLL_SECONDS
    files: Sequence[int] = ()

    def __init__(self) -> None:
        self._seen = self._version()

    def has_changed(self) -> bool:
        before, self._seen = self._seen, self._version()
        return before != self._seen

    def _version(self) -> int:
        connection.close_if_unusable_or_obsolete()  # One that may not write would see no change.
        leave_replaced_if_due()
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA data_version")
            return int(cursor.fetchone()[0])


watch = Watch()
when_replaced.append(watch.wake_all)
