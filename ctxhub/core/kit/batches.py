"""Writes many rows in batches, each in a transaction of its own, so that other writers get in between."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

ROWS_AT_ONCE = 500
BYTES_AT_ONCE = 8 * 1024 * 1024

DoBatch = Callable[[], Mapping[str, int]]
"""Writes a batch in a transaction of its own; returns how many rows, by plural, and nothing at the end."""


class _DoFirst(Exception):
    """Rolls back the open transaction, so that batches are written before it is run again."""

    def __init__(self, key: str, do_batch: DoBatch) -> None:
        super().__init__(key)
        self.key, self.do_batch = key, do_batch


_done: ContextVar[dict[str, Counter[str]] | None] = ContextVar("rows written in batches", default=None)


def in_batches(run: Callable[[], T]) -> T:
    """Run a write whose transaction may ask for batches by `do_first`. Surrounds the outermost transaction.

    If the call is cut off, its batches stay written, and the same call writes the others.
    """
    if _done.get() is not None:
        return run()
    done: dict[str, Counter[str]] = {}
    token = _done.set(done)
    try:
        while True:
            try:
                return run()
            except _DoFirst as first:
                asked = first
            counts = done.setdefault(asked.key, Counter())
            while batch := asked.do_batch():
                counts.update(batch)
    finally:
        _done.reset(token)


def done_before(key: str) -> Counter[str] | None:
    """How many rows this call has written in batches, by plural; None if it has not."""
    return (_done.get() or {}).get(key)


def do_first(key: str, do_batch: DoBatch) -> Counter[str]:
    """Leave the open transaction, write all batches, run it again; then return how many rows were written.

    Call it before the transaction writes, inside `in_batches`.
    """
    if (done := done_before(key)) is None:
        raise _DoFirst(key, do_batch)
    return done
