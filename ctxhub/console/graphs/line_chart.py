"""Lays out a line chart of values from 0 on, one line for each series."""

import math
from collections.abc import Sequence

from ctxhub.core.kit.frozen import frozen

# In pixels of the drawing.
WIDTH, HEIGHT = 640, 200
LEFT, RIGHT, TOP, BOTTOM = 38, 12, 10, 24
GRID = 0.05
LABELS = 7


@frozen
class Line:
    """A series; None where there is no value. `role`: its CSS class."""

    name: str
    role: str
    values: Sequence[float | None]


@frozen
class Point:
    x: float
    y: float
    title: str


@frozen
class DrawnLine:
    """`path`: interrupted where values are missing."""

    name: str
    role: str
    path: str
    points: Sequence[Point]


@frozen
class Mark:
    """A label of an axis."""

    at: float
    text: str


@frozen
class LineChart:
    lines: Sequence[DrawnLine]
    levels: Sequence[Mark]
    names: Sequence[Mark]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


def line_chart(names: Sequence[str], lines: Sequence[Line], *, at_least: float) -> LineChart:
    """`names`: of the values of each line; `at_least`: the highest level, unless a value is higher."""
    known = [value for line in lines for value in line.values if value is not None]
    steps = math.ceil(round(max([at_least, *known]) / GRID, 6))
    every = math.ceil(steps / 5)
    top = math.ceil(steps / every) * every * GRID
    xs = [_x(n, len(names)) for n in range(len(names))]
    skip = math.ceil(len(names) / LABELS)
    return LineChart(
        lines=[_drawn(line, names, xs, top) for line in lines],
        levels=[Mark(_y(n * GRID, top), f"{n * GRID:.2f}") for n in range(0, round(top / GRID) + 1, every)],
        names=[Mark(x, name) for n, (x, name) in enumerate(zip(xs, names, strict=True)) if n % skip == 0],
    )


def _drawn(line: Line, names: Sequence[str], xs: Sequence[float], top: float) -> DrawnLine:
    points = [
        None if value is None else Point(x, _y(value, top), f"{line.name}, {name}: {value:.3f}")
        for value, name, x in zip(line.values, names, xs, strict=True)
    ]
    return DrawnLine(line.name, line.role, _path(points), [point for point in points if point])


def _path(points: Sequence[Point | None]) -> str:
    pieces = [
        f"{'L' if n and points[n - 1] else 'M'}{point.x:g} {point.y:g}"
        for n, point in enumerate(points)
        if point
    ]
    return "".join(pieces)


def _x(n: int, count: int) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * (n + 0.5) / count, 1)


def _y(value: float, top: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top, 1)
