"""Splits rows into batches, so that statements do not grow with the import."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

ROWS_PER_BATCH = 500
BYTES_PER_BATCH = 8 * 1024 * 1024


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), ROWS_PER_BATCH):
        yield items[start : start + ROWS_PER_BATCH]


def batches_by_size(items: Sequence[T], size: Callable[[T], int]) -> Iterator[Sequence[T]]:
    """Batches of at most 500 items and 8 MiB; an item larger than that is a batch of its own."""
    start = total = 0
    for end, item in enumerate(items):
        if end > start and (end - start == ROWS_PER_BATCH or total + size(item) > BYTES_PER_BATCH):
            yield items[start:end]
            start, total = end, 0
        total += size(item)
    if items:
        yield items[start:]
