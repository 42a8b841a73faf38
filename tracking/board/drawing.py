"""Places bars and marks of a board on its axis, in percent of its width."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from ctxhub.console.timeline.axis import AxisTime, axis_times
from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.plurals import often
from tracking.board.found import Held

LEAST_WIDTH = 0.4
LABELS = 6
# Crosses that are closer than this are one.
CROSS_WIDTH = 1.5


@frozen
class Label:
    x: float
    time: AxisTime


@frozen
class Stripe:
    """A bar. `role`: what it is, as CSS classes. `goes_on`: the lease ends after the axis."""

    x: float
    width: float
    role: str
    goes_on: bool = False


@frozen
class Cross:
    """One refusal or several. `title` names the agents."""

    x: float
    title: str


class Axis:
    """From the beginning of the period to its end, or as far beyond now as a lease is live.

    What is to come takes at most half of the width.
    """

    def __init__(self, period: Period, live: Iterable[Held], now: datetime) -> None:
        last = max((held.end for held in live), default=now)
        ahead = min(last - now, period.length) if period.end >= now - timedelta(minutes=1) else timedelta()
        self.period = Period(period.begin, period.end + ahead, period.zone)
        self.now = self.x(now) if self.period.begin <= now <= self.period.end else None
        self.labels = [Label(self.x(time.at), time) for time in axis_times(self.period, LABELS)]

    def x(self, at: datetime) -> float:
        part = min(max((at - self.period.begin) / self.period.length, 0.0), 1.0)
        return round(100 * part, 2)

    def stripe(self, held: Held) -> Stripe | None:
        """None for a lease that was taken after the axis."""
        begin = held.lease.created_at
        if begin >= self.period.end or held.end <= self.period.begin:
            return None
        x = min(self.x(begin), 100 - LEAST_WIDTH)
        width = max(self.x(held.end) - x, LEAST_WIDTH)
        role = held.role if held.lease.exclusive else f"{held.role} ctx-shared"
        return Stripe(x, round(width, 2), role, held.end > self.period.end)

    def crosses(self, held: Held) -> list[Cross]:
        """The refusals from left to right; those that would cover each other are one cross."""
        groups: list[tuple[float, list[tuple[str, int]]]] = []
        for refused in sorted(held.refusals, key=lambda each: each.at):
            x = self.x(refused.at)
            if not groups or x - groups[-1][0] > CROSS_WIDTH:
                groups.append((x, []))
            groups[-1][1].append((refused.agent or "many agents", refused.count))
        return [Cross(x, _title(found)) for x, found in groups]

    def merged(self, stripes: Sequence[Stripe]) -> list[Stripe]:
        """The stripes with those of one role that touch as one: a folder has no room for each."""
        merged: list[Stripe] = []
        for role, x, width in sorted((each.role.split()[0], each.x, each.width) for each in stripes):
            last = merged[-1] if merged else None
            if last and last.role == role and x <= last.x + last.width:
                merged[-1] = Stripe(last.x, max(last.width, round(x + width - last.x, 2)), role)
            else:
                merged.append(Stripe(x, width, role))
        # Leases of silent holders lie over the others, and over those the ones that others wait for.
        return sorted(merged, key=lambda each: (each.role == "awaited", each.role == "silent"))


def _title(found: Sequence[tuple[str, int]]) -> str:
    names = list(dict.fromkeys(name for name, _ in found))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    times = often(sum(count for _, count in found))
    return f"{', '.join(names[:3])}{more}: refused {times}"
