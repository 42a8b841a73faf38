"""Rows are read and written so many at a time: statements do not grow with what is imported."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

AT_ONCE = 500
BYTES_AT_ONCE = 8 * 1024 * 1024


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), AT_ONCE):
        yield items[start : start + AT_ONCE]


def light_batches(items: Sequence[T], size: Callable[[T], int]) -> Iterator[Sequence[T]]:
    """The same for what may be large: each with few bytes, or with a single item."""
    start = total = 0
    for end, item in enumerate(items):
        if end > start and (end - start == AT_ONCE or total + size(item) > BYTES_AT_ONCE):
            yield items[start:end]
            start, total = end, 0
        total += size(item)
    if items:
        yield items[start:]
