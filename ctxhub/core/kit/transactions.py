"""Write transactions, and the lock that makes writers wait for each other in order."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from django.db import connection, transaction

from ctxhub.core.kit.sqlite_file import open_private

try:
    import fcntl
except ImportError:  # Windows: threads queue, processes rely on SQLite's busy timeout.
    fcntl = None  # type: ignore[assignment]


@contextmanager
def write_transaction(project_id: int) -> Iterator[None]:
    """Open a transaction that writes to one project, or join the one that is open.

    SQLite has one writer at a time. Its busy handler polls with growing sleeps and is unfair (slowest write
    of 16 agents: 1.5 s); a file lock taken first is a queue (0.1 s). On PostgreSQL an advisory lock of the
    project is taken before anything is read: one writer per project, so events become visible in the order
    of their ids and two batches cannot deadlock. See docs/decisions/0003-one-writer-at-a-time.md.
    """
    with touch_transaction():
        acquire_write_lock(project_id)
        yield


@contextmanager
def touch_transaction() -> Iterator[None]:
    """Open a transaction that only updates a last-seen time: it writes no event, so needs no write lock."""
    is_queued = connection.vendor == "sqlite" and not connection.in_atomic_block
    with _queue if is_queued else nullcontext(), transaction.atomic():
        yield


@contextmanager
def try_touch_transaction() -> Iterator[bool]:
    """Like `touch_transaction`, for an optional write: yields False, and opens none, if SQLite is busy.

    Otherwise a read on SQLite would wait for the writes of any project, such as an import.
    """
    is_queued = connection.vendor == "sqlite" and not connection.in_atomic_block
    if is_queued and not _queue.take(TOUCH_TIMEOUT_SECONDS):
        yield False
        return
    try:
        with transaction.atomic():
            yield True
    finally:
        if is_queued:
            _queue.leave()


def acquire_write_lock(project_id: int) -> None:
    """Wait for the project's write lock. Call it in an open transaction, before any row is locked."""
    if connection.vendor == "postgresql" and connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK_CLASS, project_id % 2**31])


def try_write_lock(project_id: int) -> bool:
    """Take the project's write lock if it is free; whether it was. Call it in an open transaction.

    Always True on SQLite, where an open write transaction is the only one.
    """
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [_LOCK_CLASS, project_id % 2**31])
        return bool(cursor.fetchone()[0])


# Longer than the longest wait with 16 busy writers (0.1 s).
TOUCH_TIMEOUT_SECONDS = 0.3
_LOCK_CLASS = 0x63_74_78  # "ctx": separates our advisory locks from others in the same database.


class _FileQueue:
    """A lock shared by threads and processes of one machine. The kernel frees it when its holder dies."""

    def __init__(self) -> None:
        self._thread_lock = threading.Lock()
        self._files: dict[str, int] = {}

    def __enter__(self) -> None:
        self._thread_lock.acquire()
        self._lock_file_or_leave(waits=True)

    def __exit__(self, *_: object) -> None:
        self.leave()

    def take(self, timeout_seconds: float) -> bool:
        """Try to take the lock for that many seconds; if True, the caller must `leave` it."""
        until = time.monotonic() + timeout_seconds
        if not self._thread_lock.acquire(timeout=timeout_seconds):
            return False
        while not self._lock_file_or_leave(waits=False):
            if time.monotonic() >= until:
                self._thread_lock.release()
                return False
            time.sleep(0.01)
        return True

    def leave(self) -> None:
        try:
            if fcntl is not None:
                fcntl.flock(self._file(), fcntl.LOCK_UN)
        finally:
            self._thread_lock.release()

    def _lock_file_or_leave(self, *, waits: bool) -> bool:
        """Lock the file; False if another process has it and `waits` is False."""
        try:
            if fcntl is not None:
                fcntl.flock(self._file(), fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except BaseException:
            self._thread_lock.release()
            raise
        return True

    def _file(self) -> int:
        name = f"{connection.settings_dict['NAME']}.lock"
        if name not in self._files:
            # Stays open until the process ends.
            self._files[name] = open_private(Path(name), os.O_RDWR)
        return self._files[name]


_queue = _FileQueue()
