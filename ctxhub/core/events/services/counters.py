"""Updates the counters: every write of a counted noun adds its increments."""

from collections import Counter

from ctxhub.core.kit import sql

CounterKey = tuple[str, int, int]
"""The kind of a noun, the id of a layer (0: none) and a status (0: the noun has no status)."""


def counter_key(noun: str, layer_id: int | None = None, status: int = 0) -> CounterKey:
    return noun, layer_id or 0, status


def add_to_counters(project_id: int, changes: Counter[CounterKey]) -> None:
    """Add increments to the counters, in the transaction of the counted rows."""
    records = [(project_id, *key, increment) for key, increment in sorted(changes.items()) if increment]
    if records:
        sql.insert(
            "core_tally",
            ("project_id", "noun", "layer", "status", "count"),
            records,
            "ON CONFLICT (project_id, noun, layer, status)"
            " DO UPDATE SET count = core_tally.count + excluded.count",
        )
