"""Lays out areas that are stacked on each other, one for each series, from 0 on."""

import math
from collections.abc import Sequence

from ctxhub.console.graphs.line_chart import Mark
from ctxhub.core.kit.frozen import frozen

# In pixels of the drawing.
WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 8, 10, 24
LABELS, LEVELS = 7, 4


@frozen
class Series:
    """`values`: one for each name of the chart."""

    name: str
    values: Sequence[int]


@frozen
class Area:
    """`role`: its CSS class, which is its colour; `total`: of its values."""

    name: str
    role: str
    path: str
    total: int


@frozen
class Column:
    """What is shown where the pointer is: the sum at a name, and the parts of it."""

    x: float
    width: float
    title: str


@frozen
class Row:
    """The values at a name, as a table shows them: one for each area."""

    name: str
    values: Sequence[int]

    @property
    def total(self) -> int:
        return sum(self.values)


@frozen
class StackedChart:
    areas: Sequence[Area]
    rows: Sequence[Row]
    columns: Sequence[Column]
    levels: Sequence[Mark]
    names: Sequence[Mark]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM

    @property
    def inner_height(self) -> int:
        return self.bottom - self.top


def stacked_chart(names: Sequence[str], series: Sequence[Series], unit: str) -> StackedChart:
    """The first of the series is the lowest area. `unit`: of the values, for the tooltips."""
    sums = [sum(values) for values in zip(*(one.values for one in series), strict=True)]
    step = _step(max(sums, default=0))
    top = max(1, math.ceil(max(sums, default=0) / step)) * step
    width = (WIDTH - LEFT - RIGHT) / max(1, len(names))
    xs = [round(LEFT + width * (n + 0.5), 1) for n in range(len(names))]
    skip = math.ceil(len(names) / LABELS)
    return StackedChart(
        areas=_areas(series, xs, width, top),
        rows=[Row(name, [one.values[n] for one in series]) for n, name in enumerate(names)],
        columns=[
            Column(round(LEFT + width * n, 1), round(width, 1), _title(name, n, series, unit))
            for n, name in enumerate(names)
        ],
        levels=[Mark(_y(n * step, top), _short(n * step)) for n in range(top // step + 1)],
        names=[Mark(x, name) for n, (x, name) in enumerate(zip(xs, names, strict=True)) if n % skip == 0],
    )


def _areas(series: Sequence[Series], xs: Sequence[float], width: float, top: int) -> list[Area]:
    areas = []
    below = [0] * len(xs)
    for number, one in enumerate(series):
        above = [low + value for low, value in zip(below, one.values, strict=True)]
        path = _path(xs, below, above, width, top)
        areas.append(Area(one.name, f"area-{number}", path, sum(one.values)))
        below = above
    return areas


def _path(xs: Sequence[float], below: Sequence[int], above: Sequence[int], width: float, top: int) -> str:
    """A closed line: the upper edge forth, the lower one back. A single value is as wide as its column."""
    if len(xs) == 1:
        xs, below, above = [xs[0] - width / 2, xs[0] + width / 2], [*below] * 2, [*above] * 2
    forth = [f"{x:g} {_y(value, top):g}" for x, value in zip(xs, above, strict=True)]
    back = [f"{x:g} {_y(value, top):g}" for x, value in zip(xs, below, strict=True)][::-1]
    return f"M{'L'.join([*forth, *back])}Z"


def _title(name: str, position: int, series: Sequence[Series], unit: str) -> str:
    parts = [f"{one.name} {one.values[position]:,}" for one in series if one.values[position]]
    total = sum(one.values[position] for one in series)
    return f"{name}: {total:,} {unit}" + (f" ({', '.join(parts)})" if len(parts) > 1 else "")


def _step(highest: int) -> int:
    """The distance of two levels: 1, 2 or 5 times a power of ten, so that there are about LEVELS."""
    least = max(1, math.ceil(highest / LEVELS))
    power: int = 10 ** (len(str(least)) - 1)
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)


def _y(value: float, top: int) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top, 1)


def _short(value: int) -> str:
    """2,500,000 as 2.5 M, 12,000 as 12 k."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:g} {letter}"
    return str(value)
