"""Lays out bars of stacked parts, one part for each series, from 0 on."""

import math
from collections.abc import Mapping, Sequence

from ctxhub.console.graphs.line_chart import Mark
from ctxhub.core.kit.frozen import frozen

# In pixels of the drawing.
WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 8, 10, 24
LABELS, LEVELS = 7, 4
# Of the width of a column.
BAR = 0.78


@frozen
class Series:
    """`values`: one for each name of the chart."""

    name: str
    values: Sequence[int]


@frozen
class Parts:
    """The parts of a series in all bars. `role`: its CSS class, which is its colour; `total`: of its values.

    `path`: those of whole bars; `partial_path`: those of bars that are only a part of their time.
    """

    name: str
    role: str
    path: str
    partial_path: str
    total: int


@frozen
class Column:
    """What is shown where the pointer is: the sum at a name, and the parts of it."""

    x: float
    width: float
    title: str


@frozen
class Row:
    """The values at a name, as a table shows them: one for each series."""

    name: str
    values: Sequence[int]

    @property
    def total(self) -> int:
        return sum(self.values)


@frozen
class StackedChart:
    """`partial`: the bars that are only a part of their time, in words."""

    series: Sequence[Parts]
    rows: Sequence[Row]
    columns: Sequence[Column]
    levels: Sequence[Mark]
    names: Sequence[Mark]
    partial: Sequence[str] = ()
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM

    @property
    def inner_height(self) -> int:
        return self.bottom - self.top


def stacked_chart(
    names: Sequence[str], series: Sequence[Series], unit: str, partial: Mapping[int, str] | None = None
) -> StackedChart:
    """The first of the series is the lowest part. `unit`: of the values, for the tooltips.

    `partial`: by position, of which part of its time a bar is: "so far".
    """
    partial = partial or {}
    sums = [sum(values) for values in zip(*(one.values for one in series), strict=True)]
    step = _step(max(sums, default=0))
    top = max(1, math.ceil(max(sums, default=0) / step)) * step
    width = (WIDTH - LEFT - RIGHT) / max(1, len(names))
    xs = [round(LEFT + width * (n + 0.5), 1) for n in range(len(names))]
    skip = math.ceil(len(names) / LABELS)
    said = [f"{name} {partial[n]}" if n in partial else name for n, name in enumerate(names)]
    return StackedChart(
        series=_parts(series, xs, width * BAR, top, partial),
        rows=[Row(name, [one.values[n] for one in series]) for n, name in enumerate(said)],
        columns=[
            Column(round(LEFT + width * n, 1), round(width, 1), _title(name, n, series, unit))
            for n, name in enumerate(said)
        ],
        levels=[Mark(_y(n * step, top), _short(n * step)) for n in range(top // step + 1)],
        names=[Mark(x, name) for n, (x, name) in enumerate(zip(xs, names, strict=True)) if n % skip == 0],
        partial=[said[n] for n in sorted(partial)],
    )


def _parts(
    series: Sequence[Series], xs: Sequence[float], width: float, top: int, partial: Mapping[int, str]
) -> list[Parts]:
    parts = []
    below = [0] * len(xs)
    for number, one in enumerate(series):
        above = [low + value for low, value in zip(below, one.values, strict=True)]
        bars = [_bar(x, low, high, width, top) for x, low, high in zip(xs, below, above, strict=True)]
        whole = "".join(bar for n, bar in enumerate(bars) if n not in partial)
        in_part = "".join(bar for n, bar in enumerate(bars) if n in partial)
        parts.append(Parts(one.name, f"area-{number}", whole, in_part, sum(one.values)))
        below = above
    return parts


def _bar(x: float, below: int, above: int, width: float, top: int) -> str:
    """A rectangle of a path; "" for nothing."""
    if above == below:
        return ""
    foot, head = _y(below, top), _y(above, top)
    return f"M{round(x - width / 2, 1):g} {foot:g}V{head:g}h{round(width, 1):g}V{foot:g}Z"


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
