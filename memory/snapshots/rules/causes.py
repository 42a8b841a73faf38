"""The kinds of links between snapshots."""

from collections.abc import Mapping, Sequence

CAUSED_BY, DEPENDS_ON = "caused_by", "depends_on"

Ways = Mapping[tuple[int, str], Sequence[int]]
"""The snapshots next to one, by its id and the kind of the link."""
