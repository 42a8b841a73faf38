"""Spreads a choice evenly over what there is."""

from collections.abc import Sequence
from typing import TypeVar

RowT = TypeVar("RowT")


def evenly(rows: Sequence[RowT], at_most: int) -> list[RowT]:
    """At most so many of the rows, evenly spread, in their order."""
    if len(rows) <= at_most:
        return list(rows)
    return [rows[place * len(rows) // at_most] for place in range(at_most)]
