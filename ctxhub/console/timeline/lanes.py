"""Lays out a timeline: a lane for each agent, with ticks, bars, arrows and crosses at their times."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from ctxhub.console.timeline.axis import AxisTime, axis_times
from ctxhub.console.timeline.periods import Period
from ctxhub.console.timeline.sources import Arrow, Bar, Mark
from ctxhub.console.timeline.ticks import SUBJECTS, Tick
from ctxhub.core.kit.frozen import frozen

# In pixels of the drawing.
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1080, 150, 12, 26, 8
LANE, ROW, FIRST_ROW = 76, 11, 12
BAR_TOP, BAR_HEIGHT, BAR_ROWS = 60, 5, 2
LEAST_RADIUS, MOST_RADIUS = 2.2, 5.5
HEAD = 4


@frozen
class Label:
    x: float
    time: AxisTime


@frozen
class Dot:
    x: float
    y: float
    radius: float
    tick: Tick


@frozen
class Stripe:
    x: float
    y: float
    width: float
    bar: Bar


@frozen
class Curve:
    """An arrow to one lane: its line and its head."""

    path: str
    head: str
    arrow: Arrow


@frozen
class Cross:
    path: str
    mark: Mark


@frozen
class Lane:
    """`top`: of the lane; `middle`: of its name."""

    agent_id: int | None
    name: str
    top: float
    url: str = ""

    @property
    def middle(self) -> float:
        return self.top + LANE / 2

    def row(self, subject: str) -> float:
        return self.top + FIRST_ROW + ROW * SUBJECTS.index(subject)


@frozen
class Lanes:
    """The whole drawing. The period lies between `left` and `right`."""

    lanes: Sequence[Lane]
    labels: Sequence[Label]
    dots: Sequence[Dot]
    stripes: Sequence[Stripe]
    curves: Sequence[Curve]
    crosses: Sequence[Cross]
    height: int
    width: int = WIDTH
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    lane: int = LANE

    @property
    def inner_height(self) -> int:
        return self.height - TOP - BOTTOM


class _Scale:
    """Places times between the left and the right edge."""

    def __init__(self, period: Period) -> None:
        self.period = period

    def x(self, at: datetime) -> float:
        part = min(max((at - self.period.begin) / self.period.length, 0.0), 1.0)
        return round(LEFT + (WIDTH - LEFT - RIGHT) * part, 1)


def lay_out(
    agents: Sequence[tuple[int | None, str, str]],
    period: Period,
    *,
    ticks: Sequence[Tick],
    bars: Sequence[Bar],
    arrows: Sequence[Arrow],
    marks: Sequence[Mark],
) -> Lanes:
    """`agents`: id, name and URL of each lane, from above. What belongs to no lane is left out."""
    scale = _Scale(period)
    lanes = {
        agent_id: Lane(agent_id, name, TOP + LANE * n, url) for n, (agent_id, name, url) in enumerate(agents)
    }
    return Lanes(
        lanes=list(lanes.values()),
        labels=[Label(scale.x(time.at), time) for time in axis_times(period)],
        dots=[_dot(tick, lanes[tick.agent_id], scale) for tick in ticks if tick.agent_id in lanes],
        stripes=_stripes(bars, lanes, scale),
        curves=[curve for arrow in arrows for curve in _curves(arrow, lanes, scale)],
        crosses=[_cross(mark, lanes[mark.agent_id], scale) for mark in marks if mark.agent_id in lanes],
        height=TOP + LANE * len(lanes) + BOTTOM,
    )


def _dot(tick: Tick, lane: Lane, scale: _Scale) -> Dot:
    radius = min(LEAST_RADIUS + 0.7 * math.log2(tick.count), MOST_RADIUS)
    return Dot(scale.x(tick.at), lane.row(tick.subject), round(radius, 1), tick)


def _stripes(bars: Sequence[Bar], lanes: Mapping[int | None, Lane], scale: _Scale) -> list[Stripe]:
    """Bars of a lane that overlap go to its second row, and further ones over that."""
    ends: dict[tuple[int, int], float] = {}
    stripes = []
    for bar in sorted(bars, key=lambda bar: bar.begin):
        if bar.agent_id not in lanes:
            continue
        x, right = scale.x(bar.begin), scale.x(bar.end)
        is_taken = ends.get((bar.agent_id, 0), 0.0) > x
        row = BAR_ROWS - 1 if is_taken else 0
        width = max(right - x, 3.0)
        ends[bar.agent_id, row] = max(x + width, ends.get((bar.agent_id, row), 0.0))
        top = lanes[bar.agent_id].top + BAR_TOP + row * (BAR_HEIGHT + 2)
        stripes.append(Stripe(x, top, round(width, 1), bar))
    return stripes


def _curves(arrow: Arrow, lanes: Mapping[int | None, Lane], scale: _Scale) -> list[Curve]:
    """One to each addressed lane; to everyone, a short one that leaves the sender's lane."""
    if (sender := lanes.get(arrow.agent_id)) is None:
        return []
    x, y = scale.x(arrow.at), sender.row("messages")
    if arrow.to is None:
        return [_curve(arrow, x, y, y - ROW * 2)]
    names = set(arrow.to)
    others = [lane for lane in lanes.values() if lane.name.casefold() in names and lane is not sender]
    return [_curve(arrow, x, y, lane.row("messages")) for lane in others]


def _curve(arrow: Arrow, x: float, y: float, end: float) -> Curve:
    side = 1 if end > y else -1
    stop = end - side * (HEAD + 1)
    bend = min(x + 10, WIDTH - RIGHT)
    head = f"M{x - HEAD:g} {stop - side * HEAD:g}L{x:g} {stop:g}L{x + HEAD:g} {stop - side * HEAD:g}"
    return Curve(f"M{x:g} {y:g}C{bend:g} {y:g} {bend:g} {end:g} {x:g} {stop:g}", head, arrow)


def _cross(mark: Mark, lane: Lane, scale: _Scale) -> Cross:
    x, y = scale.x(mark.at), lane.top + BAR_TOP - 4
    return Cross(f"M{x - 4:g} {y - 4:g}L{x + 4:g} {y + 4:g}M{x - 4:g} {y + 4:g}L{x + 4:g} {y - 4:g}", mark)
