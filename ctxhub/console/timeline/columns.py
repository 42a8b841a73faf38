"""The columns of a drawn period: of equal length, each counted from whole slots of time."""

from datetime import datetime, timedelta

from ctxhub.console.time_slots import HOUR, MINUTE, TEN_MINUTES
from ctxhub.console.timeline.periods import Period


class Columns:
    """`slot`: the longest slot that is not longer than a column; a minute at least."""

    def __init__(self, period: Period, count: int) -> None:
        self.count = count
        self._begin, self._width = period.begin, period.length / count
        self.slot = _slot(self._width)

    def of(self, begin: datetime) -> int:
        """The column of a slot that begins then."""
        column = int((begin + self.slot / 2 - self._begin) / self._width)
        return min(max(column, 0), self.count - 1)

    def middle(self, column: int) -> datetime:
        return self._begin + (column + 0.5) * self._width


def _slot(width: timedelta) -> timedelta:
    return max((slot for slot in (MINUTE, TEN_MINUTES, HOUR) if slot <= width), default=MINUTE)
