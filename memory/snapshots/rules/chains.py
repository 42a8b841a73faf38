"""The length of causal chains: how many snapshots lead from the first cause to a snapshot."""

from collections.abc import Mapping


def average_length(causes: Mapping[int, int | None]) -> float:
    """The mean length over all snapshots, by their ids and the ids of their causes; 0 if there are none.

    A snapshot without a cause has the length 1. Circles, which only an import brings, have no first cause:
    their snapshots, and what follows from them, are left out.
    """
    lengths: dict[int | None, int] = {None: 0}
    for row_id in causes:
        _measure(row_id, causes, lengths)
    known = [length for row_id, length in lengths.items() if row_id is not None and length]
    return sum(known) / len(known) if known else 0.0


def _measure(row_id: int, causes: Mapping[int, int | None], lengths: dict[int | None, int]) -> None:
    """Add the lengths of a snapshot and of those that lead to it; 0 if they come from a circle."""
    walked: list[int] = []
    at: int | None = row_id
    while at is not None and at not in lengths:
        lengths[at] = 0
        walked.append(at)
        at = causes.get(at)
    length = lengths[at]
    for step in reversed(walked):
        # A walk that ends in itself, or in a circle, ends at 0.
        length += bool(length or at is None)
        lengths[step] = length
