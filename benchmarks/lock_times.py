"""Measures how long each write transaction of this process holds the write lock."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from unittest.mock import patch

from ctxhub.core.kit import transactions
from ctxhub.core.kit.sql import Reads

Clock = Callable[[], float]


class _Begun(threading.local):
    """When each open transaction of the thread got the lock, the innermost last; None before."""

    def __init__(self) -> None:
        self.times: list[float | None] = []


@contextmanager
def recorded_holds(clock: Clock = perf_counter, *, of_thread: bool = False) -> Iterator[list[float]]:
    """The seconds of all holds of this process, or `of_thread` of this thread, in the order of their ends."""
    here = threading.get_ident()
    acquire, touch = transactions.acquire_write_lock, transactions.touch_transaction
    begun, holds = _Begun(), list[float]()

    def acquire_timed(project_id: int, reads: Reads | None = None) -> None:
        acquire(project_id, reads)
        if begun.times:  # A transaction of another thread may have begun before.
            begun.times[-1] = clock()

    @contextmanager
    def touch_timed() -> Iterator[None]:
        begun.times.append(None)
        try:
            with touch():
                yield
        finally:
            began = begun.times.pop()
            if began is not None and not (of_thread and threading.get_ident() != here):
                holds.append(clock() - began)

    # What `write_transaction` calls; others import them by name.
    with patch.multiple(transactions, acquire_write_lock=acquire_timed, touch_transaction=touch_timed):
        yield holds
