"""`with writing(project_id):` is one transaction that writes; its writers queue in peace."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from django.db import connection, transaction

from ctxhub.core.sqlite_file import open_private

try:
    import fcntl
except ImportError:  # Windows: threads queue, processes rely on SQLite's busy timeout.
    fcntl = None  # type: ignore[assignment]


@contextmanager
def writing(project_id: int) -> Iterator[None]:
    """Open a transaction that writes to one project, or join the one that is open.

    SQLite has one writer at a time. Its own waiting polls with growing sleeps and is unfair (worst write of
    16 agents 1.5 s); a file lock taken first is a queue (0.1 s). PostgreSQL gets an advisory lock of the
    project, taken before anything is read: writers of one project follow one another, so events become
    visible in the order of their ids and two batches cannot deadlock. See
    docs/decisions/0003-one-writer-at-a-time.md.
    """
    with touching():
        join_queue(project_id)
        yield


@contextmanager
def touching() -> Iterator[None]:
    """Open a transaction that only notes that somebody was here: no event, so no turn to wait for."""
    is_queued = connection.vendor == "sqlite" and not connection.in_atomic_block
    with _queue if is_queued else nullcontext(), transaction.atomic():
        yield


def join_queue(project_id: int) -> None:
    """In a transaction somebody else opened: wait for the project's turn before any of its rows is locked."""
    if connection.vendor == "postgresql" and connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK_CLASS, project_id % 2**31])


def takes_turn(project_id: int) -> bool:
    """In a transaction: whether the project's turn was free, and is now this one's. SQLite has but one."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [_LOCK_CLASS, project_id % 2**31])
        return bool(cursor.fetchone()[0])


_LOCK_CLASS = 0x63_74_78  # "ctx": our advisory locks keep apart from anybody else's in the database.


class _FileQueue:
    """A lock that threads and processes of one machine share. The kernel frees it when its holder dies."""

    def __init__(self) -> None:
        self._thread_lock = threading.Lock()
        self._files: dict[str, int] = {}

    def __enter__(self) -> None:
        self._thread_lock.acquire()
        try:
            if fcntl is not None:
                fcntl.flock(self._file(), fcntl.LOCK_EX)
        except BaseException:
            self._thread_lock.release()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            if fcntl is not None:
                fcntl.flock(self._file(), fcntl.LOCK_UN)
        finally:
            self._thread_lock.release()

    def _file(self) -> int:
        name = f"{connection.settings_dict['NAME']}.lock"
        if name not in self._files:
            # Open as long as the process.
            self._files[name] = open_private(Path(name), os.O_RDWR)
        return self._files[name]


_queue = _FileQueue()
