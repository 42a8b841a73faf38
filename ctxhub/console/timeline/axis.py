"""Round times on the axis of a period."""

import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from ctxhub.console.timeline.periods import Period
from ctxhub.core.kit.frozen import frozen

LABELS = 9
STEPS = [
    *(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 15, 30)),
    *(timedelta(hours=hours) for hours in (1, 2, 3, 6, 12)),
    *(timedelta(days=days) for days in (1, 2, 7)),
]


@frozen
class AxisTime:
    """A time on the axis; `is_day`: it begins a day."""

    at: datetime
    text: str
    is_day: bool


def axis_times(period: Period, most: int = LABELS) -> Iterator[AxisTime]:
    """Round times of the project's time zone, about `most` of them."""
    step = next((step for step in STEPS if period.length / step <= most), STEPS[-1])
    midnight = period.local(period.begin).replace(hour=0, minute=0, second=0, microsecond=0)
    # By wall clock: an hour is left out or repeated where the clocks change.
    for n in range(math.ceil((period.length + timedelta(days=2)) / step)):
        at = midnight + n * step
        if period.begin <= at < period.end:
            is_day = not (at.hour or at.minute)
            yield AxisTime(at, f"{at:%a} {at.day}" if is_day else f"{at:%H:%M}", is_day)
