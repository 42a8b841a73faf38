"""Further panels on the pages of rows. Apps append theirs: core imports none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RowPanel:
    """A part of a page. `template` shows `content` as `panel`."""

    template: str
    content: Mapping[str, Any]


# They get the kind of a row, which refs begin with, and the row. None: nothing to show.
row_panels: list[Callable[[str, Any], RowPanel | None]] = []


def panels_of(kind: str, row: Any) -> list[RowPanel]:
    return [panel for make in row_panels if (panel := make(kind, row))]
