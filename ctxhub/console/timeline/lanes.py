"""Lays out a timeline: a lane for each agent, with ticks, bars, arrows and crosses at their times."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ctxhub.console.timeline.axis import AxisTime, axis_times
from ctxhub.console.timeline.periods import Period
from ctxhub.console.timeline.sources import Arrow, Bar, Mark
from ctxhub.console.timeline.ticks import COLUMNS, SUBJECTS, Tick
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.templatetags.agent_marks import AgentMark, mark_of

# In pixels of the drawing.
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1080, 150, 12, 26, 8
LANE, ROW, FIRST_ROW = 76, 11, 12
BAR_TOP, BAR_HEIGHT, BAR_ROWS = 60, 5, 2
LEAST_RADIUS, MOST_RADIUS = 2.2, 5.5
HEAD, MOST_CURVES = 4, 40
# A row with more dots is drawn as a band: they fill a third of its columns, and are read as a line.
MOST_DOTS = COLUMNS // 3
BAND, LEAST_HEIGHT = 10.0, 1.5
COLUMN = (WIDTH - LEFT - RIGHT) / COLUMNS


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
class Column:
    """A column of a band, from `y` down; `height` is BAND for the highest count of the drawing."""

    x: float
    y: float
    height: float
    tick: Tick

    width = round(COLUMN - 1, 2)


@frozen
class Stripe:
    x: float
    y: float
    width: float
    bar: Bar


@frozen
class Curve:
    """An arrow to all its lanes: the lines, their heads, and the dots that show its ends when it is chosen.

    `lanes`: the numbers of the lanes, the sender's first.
    """

    path: str
    heads: str
    ends: Sequence[tuple[float, float]]
    lanes: Sequence[int]
    arrow: Arrow


@frozen
class Cross:
    path: str
    mark: Mark


@frozen
class Lane:
    """`number`: from above, from 0. `top`: of the lane; `middle`: of its name."""

    agent_id: int | None
    name: str
    number: int
    url: str = ""

    @property
    def top(self) -> int:
        return TOP + LANE * self.number

    @property
    def mark(self) -> AgentMark | None:
        return mark_of(self.agent_id)

    @property
    def middle(self) -> float:
        return self.top + LANE / 2

    def row(self, subject: str) -> float:
        return self.top + FIRST_ROW + ROW * SUBJECTS.index(subject)


@frozen
class Lanes:
    """The whole drawing. The period lies between `left` and `right`. `most`: the count of a full column."""

    lanes: Sequence[Lane]
    labels: Sequence[Label]
    dots: Sequence[Dot]
    columns: Sequence[Column]
    most: int
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
    def is_busy(self) -> bool:
        """Whether arrows hide what is below them, unless they are drawn faintly."""
        return len(self.curves) > MOST_CURVES

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
    lanes = {agent_id: Lane(agent_id, name, n, url) for n, (agent_id, name, url) in enumerate(agents)}
    few, many = _by_density([tick for tick in ticks if tick.agent_id in lanes])
    most = max((tick.count for tick in many), default=0)
    return Lanes(
        lanes=list(lanes.values()),
        labels=[Label(scale.x(time.at), time) for time in axis_times(period)],
        dots=[_dot(tick, lanes[tick.agent_id], scale) for tick in few],
        columns=[_column(tick, lanes[tick.agent_id], scale, most) for tick in many],
        most=most,
        stripes=_stripes(bars, lanes, scale),
        curves=[curve for arrow in arrows if (curve := _curve(arrow, lanes, scale))],
        crosses=[_cross(mark, lanes[mark.agent_id], scale) for mark in marks if mark.agent_id in lanes],
        height=TOP + LANE * len(lanes) + BOTTOM,
    )


def _by_density(ticks: Sequence[Tick]) -> tuple[list[Tick], list[Tick]]:
    """The ticks of rows with few of them, and those of rows with many."""
    rows: dict[tuple[int | None, str], list[Tick]] = defaultdict(list)
    for tick in ticks:
        rows[tick.agent_id, tick.subject].append(tick)
    few = [tick for row in rows.values() if len(row) <= MOST_DOTS for tick in row]
    return few, [tick for row in rows.values() if len(row) > MOST_DOTS for tick in row]


def _column(tick: Tick, lane: Lane, scale: _Scale, most: int) -> Column:
    """By the square root, so that single events are seen beside hundreds."""
    height = max(round(BAND * math.sqrt(tick.count / most), 1), LEAST_HEIGHT)
    bottom = lane.row(tick.subject) + BAND / 2
    return Column(round(scale.x(tick.at) - COLUMN / 2, 1), round(bottom - height, 1), height, tick)


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


def _curve(arrow: Arrow, lanes: Mapping[int | None, Lane], scale: _Scale) -> Curve | None:
    """To each addressed lane; to everyone, a short one that leaves the sender's lane."""
    if (sender := lanes.get(arrow.agent_id)) is None:
        return None
    x, y = scale.x(arrow.at), sender.row("messages")
    others = [] if arrow.to is None else [*_addressed(arrow.to, sender, lanes)]
    stops = [y - ROW * 2] if arrow.to is None else [lane.row("messages") for lane in others]
    if not stops:
        return None
    lines = "".join(_line(x, y, stop) for stop in stops)
    heads = "".join(_head(x, y, stop) for stop in stops)
    ends = [(x, y), *((x, lane.row("messages")) for lane in others)]
    return Curve(lines, heads, ends, [sender.number, *(lane.number for lane in others)], arrow)


def _addressed(to: Sequence[str], sender: Lane, lanes: Mapping[int | None, Lane]) -> Iterator[Lane]:
    names = set(to)
    return (lane for lane in lanes.values() if lane.name.casefold() in names and lane is not sender)


def _line(x: float, y: float, end: float) -> str:
    bend = min(x + 10, WIDTH - RIGHT)
    return f"M{x:g} {y:g}C{bend:g} {y:g} {bend:g} {end:g} {x:g} {_before(y, end):g}"


def _head(x: float, y: float, end: float) -> str:
    stop = _before(y, end)
    back = stop - math.copysign(HEAD, end - y)
    return f"M{x - HEAD:g} {back:g}L{x:g} {stop:g}L{x + HEAD:g} {back:g}"


def _before(y: float, end: float) -> float:
    """Where a line from `y` stops, so that its head does not cover the dot at its end."""
    return end - math.copysign(HEAD + 1, end - y)


def _cross(mark: Mark, lane: Lane, scale: _Scale) -> Cross:
    x, y = scale.x(mark.at), lane.top + BAR_TOP - 4
    return Cross(f"M{x - 4:g} {y - 4:g}L{x + 4:g} {y + 4:g}M{x - 4:g} {y + 4:g}L{x + 4:g} {y - 4:g}", mark)
