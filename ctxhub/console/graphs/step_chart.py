"""Lays out a number that keeps its value until the next one, over time."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from ctxhub.console.graphs.line_chart import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    DrawnLine,
    LineChart,
    Mark,
    Point,
)

LEVELS, LABELS = 4, 5
# A longer period is labelled with days, a shorter one with times.
SHORT = timedelta(days=2)
# Of a number that never changes: the share of it that is shown above and below.
AROUND = 0.1


def step_chart(name: str, values: Sequence[tuple[datetime, float]], until: datetime) -> LineChart | None:
    """`values`: each with the time from which it holds, oldest first, at least one; the last holds `until`.

    None for numbers too large or too far apart to be drawn.
    """
    if (levels := _levels([value for _, value in values])) is None:
        return None
    begin, length = values[0][0], max(until - values[0][0], timedelta(seconds=1))
    low, high = levels[0], levels[-1]

    def x(at: datetime) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * ((at - begin) / length), 1)

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ((value - low) / (high - low)), 1)

    points = [
        Point(x(at), y(value), f"{value:.12g}, {timezone.localtime(at):%Y-%m-%d %H:%M}")
        for at, value in values
    ]
    steps = "".join(f"H{point.x:g}V{point.y:g}" for point in points[1:])
    path = f"M{points[0].x:g} {points[0].y:g}{steps}H{x(begin + length):g}"
    moments = [begin + length * n / (LABELS - 1) for n in range(LABELS)]
    form = "%H:%M" if length < SHORT else "%Y-%m-%d"
    return LineChart(
        lines=[DrawnLine(name, "", path, points)],
        levels=[Mark(y(level), f"{level:.6g}") for level in levels],
        # Half a label is inside at both ends.
        names=[
            Mark(min(max(x(at), LEFT + 24), WIDTH - 28), f"{timezone.localtime(at):{form}}") for at in moments
        ],
    )


def _levels(values: Sequence[float]) -> list[float] | None:
    """Levels around all values: multiples of 1, 2 or 5 times a power of ten."""
    low, high = min(values), max(values)
    around = (abs(low) * AROUND or 1) if low == high else 0
    low, high = low - around, high + around
    span = (high - low) / LEVELS
    if not math.isfinite(span) or span < math.ulp(max(abs(low), abs(high))):
        return None
    power = 10.0 ** math.floor(math.log10(span))
    if not power or not math.isfinite(10 * power):
        return None
    step = next(size * power for size in (1, 2, 5, 10) if size * power >= span)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [number * step for number in range(first, last + 1)]
