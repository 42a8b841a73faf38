"""Pads and workflows that are nearly full."""

from collections.abc import Sequence

from memory.scratchpads.sql.limits import PAD, WORKFLOW, Filled, read_filled

__all__ = ["PAD", "WORKFLOW", "find_filled"]


def find_filled(project_ids: Sequence[int], *, most_pads: int, at_most: int) -> list[Filled]:
    """Pads that are nine tenths full, and workflows with `most_pads` pads, the fullest first."""
    return read_filled(project_ids, most_pads, at_most)
