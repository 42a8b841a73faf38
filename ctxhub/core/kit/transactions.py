"""Write transactions, and the lock that makes writers wait for each other in order."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from django.db import OperationalError, connection, transaction

from ctxhub.core.kit.batches import counted_write, early_writes
from ctxhub.core.kit.newer_schema import (
    is_newer,
    lacking_migrations,
    refuse_newer_schema,
    refuse_older_schema,
)
from ctxhub.core.kit.outcomes import begin_commit
from ctxhub.core.kit.read_limit import NO_TIMEOUT, unlimited
from ctxhub.core.kit.replaced_file import refuse_replaced
from ctxhub.core.kit.sql import Reads, is_sqlite, is_watched, run_together, sent_together
from ctxhub.core.kit.write_queue import QUEUE, QueueTimeout, Turn, describe


@contextmanager
def write_transaction(project_id: int, reads: Reads | None = None) -> Iterator[None]:
    """Open a transaction that writes to one project, or join the one that is open.

    `reads` are made again as soon as it has the lock, where that saves a round trip.

    SQLite has one writer at a time. Its busy handler polls with growing sleeps and is unfair (slowest write
    of 16 agents: 1.5 s); a file lock taken first is a queue (0.1 s). On PostgreSQL an advisory lock of the
    project is taken before anything is read: one writer per project, so events become visible in the order
    of their ids and two batches cannot deadlock. See docs/decisions/0003-one-writer-at-a-time.md.
    """
    is_outermost = not connection.in_atomic_block
    with counted_write(), unlimited(), touch_transaction(), early_writes() as is_to_undo:
        acquire_write_lock(project_id, reads)
        _writing.depth += 1
        try:
            with sent_together(commits=is_outermost and not is_to_undo):
                yield
                if is_outermost:
                    begin_commit(project_id)
        finally:
            _writing.depth -= 1


class _Writing(threading.local):
    """How many write transactions of this thread surround it."""

    depth = 0


_writing = _Writing()


def is_writing() -> bool:
    """Whether this thread is in a write transaction."""
    return _writing.depth > 0


@contextmanager
def touch_transaction() -> Iterator[None]:
    """Open a transaction that only updates a last-seen time: it writes no event, so needs no write lock.

    Raises NewerSchema or OlderSchema if this process must not write; after the commit Replaced or Removed, if
    it was into a file that nobody opens any more.
    """
    refuse_newer_schema()
    refuse_older_schema()
    if not is_sqlite() or connection.in_atomic_block:
        with unlimited(), transaction.atomic():
            yield
        return
    with unlimited(), QUEUE:
        with transaction.atomic():
            yield
        refuse_replaced()


@contextmanager
def try_touch_transaction(wait_seconds: float = 0) -> Iterator[bool]:
    """Like `touch_transaction`, for an optional write: yields False, and opens none, if SQLite is busy.

    Otherwise a read on SQLite would wait for the writes of any project, such as an import. False, too, if
    this process must not write.
    """
    if is_newer() or lacking_migrations():
        yield False
        return
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        with unlimited(), transaction.atomic():
            yield True
        return
    with unlimited(), ExitStack() as held:
        is_free = QUEUE.take(wait_seconds)
        if is_free:
            held.callback(QUEUE.leave)
            is_free = held.enter_context(_try_transaction())
        yield is_free


@contextmanager
def _try_transaction() -> Iterator[bool]:
    """A transaction of SQLite, or False if a program beside the hub has locked the database."""
    connection.ensure_connection()
    with ExitStack() as whole:
        connection.connection.execute("PRAGMA busy_timeout = 0")
        try:
            whole.enter_context(transaction.atomic())
            is_open = True
        except OperationalError:
            is_open = False
        finally:
            seconds = connection.settings_dict["OPTIONS"].get("timeout", 5)
            connection.connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")
        yield is_open


def acquire_write_lock(project_id: int, reads: Reads | None = None) -> None:
    """Wait for the project's write lock. Call it in an open transaction, before any row is locked.

    Raises QueueTimeout after 20 s. The server cuts off a client that is silent for a minute inside one.
    """
    if is_sqlite() or not connection.in_atomic_block:
        return
    values: list[int | str] = [_LOCK_CLASS, project_id % 2**31, _wait_limit(), IDLE_TIMEOUT]
    try:
        if reads is None or is_watched():
            with connection.cursor() as cursor:
                cursor.execute(f"{NO_TIMEOUT}; {_ACQUIRE}", values)
        else:
            _, _, *reads.again = run_together([(NO_TIMEOUT, ()), (_ACQUIRE, values), *reads.statements])
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") == LOCK_NOT_AVAILABLE:
            raise QueueTimeout(describe(None)) from error
        raise


def _wait_limit() -> str:
    return f"{QUEUE.seconds_left * 1000:.0f}ms"


def try_write_lock(project_id: int) -> bool:
    """Take the project's write lock if it is free; whether it was. Call it in an open transaction.

    Always True on SQLite, where an open write transaction is the only one.
    """
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s, %s)", [_LOCK_CLASS, project_id % 2**31])
        return bool(cursor.fetchone()[0])


def current_turn() -> Turn | None:
    """Which process has been writing for the longest time; None if none is, or it cannot be told."""
    if connection.vendor == "sqlite":
        return QUEUE.turn()
    with connection.cursor() as cursor:
        cursor.execute(_OLDEST_WRITER, [_LOCK_CLASS])
        found = cursor.fetchone()
    return Turn(found[0], float(found[1])) if found else None


_LOCK_CLASS = 0x63_74_78  # "ctx": separates our advisory locks from others in the same database.
IDLE_TIMEOUT = "60s"
LOCK_NOT_AVAILABLE = "55P03"
# Sent together, each statement has its own time: the wait has the limit of the lock alone.
# The limits hold for this transaction, and already for the wait in the same statement: the rows of
# FROM come first, and OFFSET 0 keeps it a query of its own.
_ACQUIRE = """SELECT pg_advisory_xact_lock(%s, %s)
    FROM (SELECT set_config('lock_timeout', %s, true),
                 set_config('idle_in_transaction_session_timeout', %s, true) OFFSET 0) limits"""
_OLDEST_WRITER = """
    SELECT l.pid, extract(epoch FROM now() - a.xact_start)
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.classid = %s AND l.granted
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ORDER BY a.xact_start LIMIT 1"""
