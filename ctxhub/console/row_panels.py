"""Further panels on the pages of rows. Apps append theirs: core imports none."""

from collections.abc import Callable, Mapping
from typing import Any

from ctxhub.core.kit.frozen import frozen

# The kind of the pages of agents, who have no refs.
AGENT = "agent"


@frozen
class RowPanel:
    """A part of a page. `template` shows `content` as `panel`. Those of a lower `place` come first."""

    template: str
    content: Mapping[str, Any]
    place: int = 0


# They get the kind of a row, which refs begin with, and the row. None: nothing to show.
row_panels: list[Callable[[str, Any], RowPanel | None]] = []


def panels_of(kind: str, row: Any) -> list[RowPanel]:
    panels = [panel for make in row_panels if (panel := make(kind, row))]
    return sorted(panels, key=lambda panel: panel.place)
