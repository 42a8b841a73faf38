"""The figures of a project: read once, asked for by every noun."""

from collections.abc import Mapping
from functools import cached_property

from ctxhub.core.kit import sql


class Stats:
    """How many rows there are, by noun, layer and status, from the tallies: one query, however many ask."""

    def __init__(self, project_id: int) -> None:
        self.project_id = project_id

    @cached_property
    def _counters(self) -> list[tuple[str, int, int, int]]:
        return [
            (noun, layer, status, int(count))
            for noun, layer, status, count in sql.rows(
                "SELECT noun, layer, status, count FROM core_tally WHERE project_id = %s", [self.project_id]
            )
        ]

    def of(self, kind: str, *, status: int | None = None) -> int:
        """How many things of a noun there are, or have a status."""
        return sum(count for noun, _, has, count in self._counters if noun == kind and status in (None, has))

    def by_layer(self, kind: str, *, status: int | None = None) -> Mapping[int, int]:
        """The same for each layer, by its id."""
        counts: dict[int, int] = {}
        for noun, layer, has, count in self._counters:
            if noun == kind and layer and status in (None, has):
                counts[layer] = counts.get(layer, 0) + count
        return counts
