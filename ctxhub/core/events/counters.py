"""Counters of a project: every write of a counted noun adds to them; read once for all nouns."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

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


Counting = tuple[str, Sequence[Any]]
"""A SELECT of one number, and its values."""


def counting_rows(table: str) -> Callable[[int], Counting]:
    """Returns a function of a project id: the statement that counts its rows in a table."""
    statement = f"SELECT count(*) FROM {table} WHERE project_id = %s"
    return lambda project_id: (statement, [project_id])


class Stats:
    """Row counts of a project by noun, layer and status. Makes one query, on first use.

    `counted`: by kind the statements that count the nouns without counters.
    """

    def __init__(self, project_id: int, counted: Mapping[str, Counting] | None = None) -> None:
        self.project_id = project_id
        self.counted = counted or {}

    @cached_property
    def _counters(self) -> list[tuple[str, int, int, int]]:
        branches = ["SELECT noun, layer, status, count FROM core_tally WHERE project_id = %s"]
        branches += [f"SELECT '{kind}', 0, 0, ({count})" for kind, (count, _) in self.counted.items()]
        values = [value for _, values in self.counted.values() for value in values]
        return [
            (noun, layer, status, int(count))
            for noun, layer, status, count in sql.rows(
                " UNION ALL ".join(branches), [self.project_id, *values]
            )
        ]

    def of(self, kind: str, *, status: int | None = None) -> int:
        """The number of rows of a noun, or of those with a status."""
        return sum(count for noun, _, has, count in self._counters if noun == kind and status in (None, has))

    def by_layer(self, kind: str, *, status: int | None = None) -> Mapping[int, int]:
        """The same number for each layer, by layer id."""
        counts: dict[int, int] = {}
        for noun, layer, has, count in self._counters:
            if noun == kind and layer and status in (None, has):
                counts[layer] = counts.get(layer, 0) + count
        return counts
