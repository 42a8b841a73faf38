"""Limits the processor time of a read, so that no call occupies a thread for long.

A read's own computation is counted by the clock of its thread, and on PostgreSQL the time of its statements,
which another process computes. Long loops call `checkpoint`; SQLite asks `is_over` while a statement runs;
PostgreSQL stops one statement after as many seconds by itself. Writes have no limit.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, thread_time
from typing import Any

from ctxhub.core.kit.errors import LimitReached

SECONDS = 5.0
# SQLite asks after so many steps of its machine, some milliseconds.
SQLITE_STEPS = 100_000
POSTGRES_CANCELLED = "57014"
HINT = "Ask for less: fewer paths or refs, a shorter text, a smaller limit, or a narrower filter."


class TooMuchWork(LimitReached):
    """A read was stopped because it used up its processor time."""

    def __init__(self, name: str = "") -> None:
        super().__init__(
            f"{name or 'The call'} was stopped: it took more than {SECONDS:g} seconds of processor time.",
            hint=HINT,
        )


class _AtWork(threading.local):
    """The read that runs in a thread: until when it cannot be over, and the thread's clock when it is.

    None: there is none, or it is writing.
    """

    serves_calls = False
    name = ""
    not_before: float | None = None
    ends = 0.0


_at_work = _AtWork()


@contextmanager
def limited_read(name: str) -> Iterator[None]:
    """Limit the block, unless one around it is limited. Raises TooMuchWork, also for a stopped statement."""
    if _at_work.not_before is not None:
        yield
        return
    _at_work.name, _at_work.not_before, _at_work.ends = name, monotonic() + SECONDS, thread_time() + SECONDS
    try:
        yield
    except Exception as error:
        if stopped := too_much_work(error):
            raise stopped from error
        raise
    finally:
        _at_work.not_before = None


@contextmanager
def unlimited() -> Iterator[None]:
    """What a read writes is not stopped halfway."""
    not_before, _at_work.not_before = _at_work.not_before, None
    try:
        yield
    finally:
        _at_work.not_before = not_before


def checkpoint() -> None:
    """Raise TooMuchWork if the read at work is over. Costs a tenth of a microsecond."""
    if (not_before := _at_work.not_before) is not None and monotonic() > not_before and is_over():
        raise TooMuchWork(_at_work.name)


def is_over() -> bool:
    not_before = _at_work.not_before
    return not_before is not None and monotonic() > not_before and thread_time() > _at_work.ends


def count_waiting(seconds: float) -> None:
    """Count the time of a statement that another process has computed."""
    if _at_work.not_before is not None:
        _at_work.not_before -= seconds
        _at_work.ends -= seconds


def too_much_work(error: BaseException) -> TooMuchWork | None:
    """The error of a read whose statement was stopped; None for other errors."""
    from django.db import OperationalError  # Not above: counting tokens works without Django.

    if not isinstance(error, OperationalError) or _at_work.not_before is None:
        return None
    is_cancelled = getattr(error.__cause__, "sqlstate", "") == POSTGRES_CANCELLED
    return TooMuchWork(_at_work.name) if is_cancelled or is_over() else None


def watch_statements(sqlite: Any) -> None:
    """Let a connection of sqlite3 stop the statements of reads that are over."""
    sqlite.set_progress_handler(is_over, SQLITE_STEPS)


def serve_calls() -> None:
    """Say that this thread runs calls, before it opens its connection."""
    _at_work.serves_calls = True


def statement_timeout() -> str:
    """PostgreSQL's limit of a statement on a new connection of this thread; "0": none.

    Write transactions lift it for themselves (`NO_TIMEOUT`).
    """
    return f"{SECONDS * 1000:.0f}" if _at_work.serves_calls else "0"


NO_TIMEOUT = "SET LOCAL statement_timeout = 0"
