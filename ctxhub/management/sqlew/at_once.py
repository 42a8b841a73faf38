"""Rows are read and written so many at a time: statements do not grow with what is imported."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

AT_ONCE = 500


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), AT_ONCE):
        yield items[start : start + AT_ONCE]
