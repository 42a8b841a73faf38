"""`with writing(project_id):` is one transaction that writes; its writers queue in peace."""

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

    SQLite has one writer at a time. Its own waiting polls with growing sleeps and is unfair (worst write of
    16 agents 1.5 s); a file lock taken first is a queue (0.1 s). PostgreSQL gets an advisory lock of the
    project, taken before anything is read: writers of one project follow one another, so events become
    visible in the order of their ids and two batches cannot deadlock. See
    docs/decisions/0003-one-writer-at-a-time.md.
    """
    with touch_transaction():
        acquire_write_lock(project_id)
        yield


@contextmanager
def touch_transaction() -> Iterator[None]:
    """Open a transaction that only notes that somebody was here: no event, so no turn to wait for."""
    is_queued = connection.vendor == "sqlite" and not connection.in_atomic_block
    with _queue if is_queued else nullcontext(), transaction.atomic():
        yield


@contextmanager
def noting() -> Iterator[bool]:
    """As `touching`, for a note that can be left out: False, and no transaction, where none is free soon.

    On SQLite, who only reads would else wait for whatever any project writes, an import, say.
    """
    is_queued = connection.vendor == "sqlite" and not connection.in_atomic_block
    if is_queued and not _queue.take(NOTE_PATIENCE_SECONDS):
        yield False
        return
    try:
        with transaction.atomic():
            yield True
    finally:
        if is_queued:
            _queue.leave()


def acquire_write_lock(project_id: int) -> None:
    """In a transaction somebody else opened: wait for the project's turn before any of its rows is locked."""
    if connection.vendor == "postgresql" and connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK_CLASS, project_id % 2**31])


def try_write_lock(project_id: int) -> bool:
    """In a transaction: whether the project's turn was free, and is now this one's. SQLite has but one."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [_LOCK_CLASS, project_id % 2**31])
        return bool(cursor.fetchone()[0])


# Longer than sixteen busy writers let anybody wait (0.1 s).
NOTE_PATIENCE_SECONDS = 0.3
_LOCK_CLASS = 0x63_74_78  # "ctx": our advisory locks keep apart from anybody else's in the database.


class _FileQueue:
    """A lock that threads and processes of one machine share. The kernel frees it when its holder dies."""

    def __init__(self) -> None:
        self._thread_lock = threading.Lock()
        self._files: dict[str, int] = {}

    def __enter__(self) -> None:
        self._thread_lock.acquire()
        self._lock_file_or_leave(waits=True)

    def __exit__(self, *_: object) -> None:
        self.leave()

    def take(self, long_poll_seconds: float) -> bool:
        """Whether it was free within that time, and is now the caller's, who must leave it."""
        until = time.monotonic() + long_poll_seconds
        if not self._thread_lock.acquire(timeout=long_poll_seconds):
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
        """False where another process has it and the system is not to wait for that."""
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
            # Open as long as the process.
            self._files[name] = open_private(Path(name), os.O_RDWR)
        return self._files[name]


_queue = _FileQueue()
