"""Keeps the figures: every write of a tallied noun says by how much it changes them."""

from collections import Counter

from ctxhub.core.kit import sql

CounterKey = tuple[str, int, int]
"""A noun's kind, a layer's id (0: in none) and a status (0: the noun has none)."""


def counter_key(noun: str, layer_id: int | None = None, status: int = 0) -> CounterKey:
    return noun, layer_id or 0, status


def add_to_counters(project_id: int, changes: Counter[CounterKey]) -> None:
    """Add to the figures; within the transaction of the rows that are counted."""
    records = [(project_id, *where, by) for where, by in sorted(changes.items()) if by]
    if records:
        sql.insert(
            "core_tally",
            ("project_id", "noun", "layer", "status", "count"),
            records,
            "ON CONFLICT (project_id, noun, layer, status)"
            " DO UPDATE SET count = core_tally.count + excluded.count",
        )
