"""Writes in the background what may reach the database a second after the answer."""

import atexit
import logging
import threading
import time
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Generic, TypeVar

from django.db import connections

from ctxhub.core.kit.failures import DATABASE_AWAY, log_failure
from ctxhub.core.kit.replaced_file import Replaced, leave_replaced, when_replaced

RETRY_SECONDS = 1.0
# The thread's connection stays open between writes that follow one another.
SECONDS_CONNECTED = 5.0
# While the database does not answer, older entries are dropped beyond this number.
MOST_KEPT = 10_000

T = TypeVar("T")


class When(Enum):
    """When entries are written: by a thread of their own, by `put` itself, or by `flush` alone."""

    IN_BACKGROUND = 1
    AT_ONCE = 2
    ON_FLUSH = 3


class BackgroundWriter(Generic[T]):
    """Collects entries in memory; a thread writes them, `seconds` after the first or when `at_once` wait.

    `write` gets all of them, and runs again with the same ones if the database did not answer. What waits is
    written before the process ends, unless it is killed.
    """

    def __init__(
        self, name: str, write: Callable[[Sequence[T]], None], *, seconds: float = 1.0, at_once: int = 200
    ) -> None:
        self.when = When.IN_BACKGROUND
        self._name, self._write = name, write
        self._seconds, self._at_once = seconds, at_once
        self._entries: list[T] = []
        self._items = 0
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None
        _writers.append(self)

    def put(self, entry: T, items: int = 1) -> None:
        """Add an entry, which counts as that many items. Never fails."""
        if self.when is When.AT_ONCE:
            self._try([entry])
            return
        with self._changed:
            self._entries.append(entry)
            self._items += items
            if self.when is When.IN_BACKGROUND and (len(self._entries) == 1 or self._items >= self._at_once):
                self._start()
                self._changed.notify()

    def add_items(self, items: int) -> None:
        """Count the entries that wait as that many items more."""
        with self._changed:
            self._items += items
            if self.when is When.IN_BACKGROUND and self._items >= self._at_once:
                self._changed.notify()

    def flush(self) -> bool:
        """Write what waits, in this thread; False if the database does not answer. Never fails."""
        with self._writing:
            leave_replaced()
            entries = self.discard()
            if not entries or self._try(entries):
                return True
            with self._changed:
                self._entries = [*entries, *self._entries][-MOST_KEPT:]
            return False

    def discard(self) -> Sequence[T]:
        """Remove the entries that wait, and return them."""
        with self._changed:
            entries, self._entries, self._items = self._entries, [], 0
            return entries

    def _try(self, entries: Sequence[T]) -> bool:
        try:
            self._write(entries)
        except Exception as error:  # Nobody waits for the result, and the next entries may be fine.
            log_failure(self._name, error, level=logging.WARNING)
            # The ids are those of the database that was replaced.
            return isinstance(error, Replaced) or not isinstance(error, DATABASE_AWAY)
        return True

    def _start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="ctxhub-background", daemon=True)
            self._thread.start()

    def _has_work(self) -> bool:
        return bool(self._entries) and self.when is When.IN_BACKGROUND

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._changed.wait_for(self._has_work, timeout=SECONDS_CONNECTED):
                    connections.close_all()
                    self._changed.wait_for(self._has_work)
                self._changed.wait_for(lambda: self._items >= self._at_once, timeout=self._seconds)
                has_work = self._has_work()
            if has_work and not self.flush():
                connections.close_all()
                time.sleep(RETRY_SECONDS)


_writers: list[BackgroundWriter[Any]] = []


def all_writers() -> Sequence[BackgroundWriter[Any]]:
    return _writers


@when_replaced.append
def discard_all() -> None:
    """Remove what waits: its ids are those of another database."""
    for writer in _writers:
        writer.discard()


@atexit.register
def flush_all() -> None:
    """Write what waits, before the process ends."""
    for writer in _writers:
        writer.flush()
