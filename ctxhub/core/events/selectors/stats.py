"""Reads the counters of a project, once for all nouns."""

from collections.abc import Mapping
from functools import cached_property

from ctxhub.core.kit import sql


class Stats:
    """Row counts of a project by noun, layer and status. Makes one query, on first use."""

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
        """The number of rows of a noun, or of those with a status."""
        return sum(count for noun, _, has, count in self._counters if noun == kind and status in (None, has))

    def by_layer(self, kind: str, *, status: int | None = None) -> Mapping[int, int]:
        """The same number for each layer, by layer id."""
        counts: dict[int, int] = {}
        for noun, layer, has, count in self._counters:
            if noun == kind and layer and status in (None, has):
                counts[layer] = counts.get(layer, 0) + count
        return counts
