"""Removes many rows in batches, each in a transaction of its own, so that other writers get in between."""

from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

ROWS_AT_ONCE = 500
BYTES_AT_ONCE = 8 * 1024 * 1024

RemoveBatch = Callable[[], Mapping[str, int]]
"""Removes a batch in a transaction of its own; returns how many rows, by plural, and nothing at the end."""


class _RemoveFirst(Exception):
    """Rolls back the open transaction, so that rows are removed before it is run again."""

    def __init__(self, key: str, remove: RemoveBatch) -> None:
        super().__init__(key)
        self.key, self.remove = key, remove


_removed: ContextVar[dict[str, Counter[str]] | None] = ContextVar("removed rows by key", default=None)


def in_batches(run: Callable[[], T]) -> T:
    """Run a write whose transaction may ask to `remove_first`. Surrounds the outermost transaction.

    If the removal is cut off, its batches stay removed, and the same call removes the others.
    """
    if _removed.get() is not None:
        return run()
    removed: dict[str, Counter[str]] = {}
    token = _removed.set(removed)
    try:
        while True:
            try:
                return run()
            except _RemoveFirst as first:
                asked = first
            counts = removed.setdefault(asked.key, Counter())
            while batch := asked.remove():
                counts.update(batch)
    finally:
        _removed.reset(token)


def removed_before(key: str) -> Counter[str] | None:
    """How many rows this call has removed in batches, by plural; None if it has not."""
    return (_removed.get() or {}).get(key)


def remove_first(key: str, remove: RemoveBatch) -> Counter[str]:
    """Leave the open transaction, remove all batches, run it again; then returns what was removed.

    Call it before the transaction writes, inside `in_batches`.
    """
    if (removed := removed_before(key)) is None:
        raise _RemoveFirst(key, remove)
    return removed
