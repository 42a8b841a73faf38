"""Lays out a heat map: a row for each day, a column for each hour, the darker the more happened."""

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime

from ctxhub.console.graphs.line_chart import Mark
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.plurals import counted

# In pixels of the drawing.
LEFT, TOP = 70, 18
CELL, GAP = 24, 2
HOURS = range(24)
HOURS_NAMED = (0, 6, 12, 18)
LEVELS = 4


@frozen
class Cell:
    """An hour. `level`: 0 for nothing, up to LEVELS."""

    x: int
    y: int
    level: int
    title: str


@frozen
class Day:
    """`counts`: of its hours, None for those that are yet to come."""

    name: str
    counts: Sequence[int | None]


@frozen
class HeatMap:
    cells: Sequence[Cell]
    hours: Sequence[Mark]
    days: Sequence[Mark]
    rows: Sequence[Day]
    height: int
    width: int = LEFT + CELL * len(HOURS)
    left: int = LEFT
    size: int = CELL - GAP


def heat_map(
    counts: Mapping[tuple[date, int], int], days: Sequence[date], now: datetime, unit: str
) -> HeatMap:
    """`counts`: by day and hour, as `now` in the time zone of a place. `unit`: of them, in the plural."""
    most = max(counts.values(), default=0)
    rows = [
        Day(
            f"{day:%d %b}",
            [None if (day, hour) > (now.date(), now.hour) else counts.get((day, hour), 0) for hour in HOURS],
        )
        for day in days
    ]
    return HeatMap(
        cells=[
            Cell(LEFT + CELL * hour, TOP + CELL * n, _level(count, most), _title(day, hour, count, unit))
            for n, (day, row) in enumerate(zip(days, rows, strict=True))
            for hour, count in enumerate(row.counts)
            if count is not None
        ],
        hours=[Mark(LEFT + CELL * hour, f"{hour:02}:00") for hour in HOURS_NAMED],
        days=[Mark(TOP + CELL * n + CELL / 2, row.name) for n, row in enumerate(rows)],
        rows=rows,
        height=TOP + CELL * len(days),
    )


def _level(count: int, most: int) -> int:
    """By the logarithm: one call in an hour is seen beside a thousand."""
    return max(1, math.ceil(LEVELS * math.log1p(count) / math.log1p(most))) if count else 0


def _title(day: date, hour: int, count: int, unit: str) -> str:
    return f"{day:%a %d %b} {hour:02}:00: {counted(count, unit)}"
