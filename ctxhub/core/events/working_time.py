"""Working time: if a project ignores weekends, ages are measured in working days only."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from ctxhub.core.accounts.models import Config

SATURDAY = 5
LONGEST_BREAK_DAYS = 1_000  # Holidays without end would never let anything age.


def moment_before(now: datetime, age: timedelta, config: Config) -> datetime:
    """The time that is `age` before `now`; with `ignore_weekend`, that much working time before.

    At 15:00 on a Monday, 24 hours before is 15:00 on Friday: rows written then expire now.
    """
    if not config.ignore_weekend:
        return now - age
    zone, holidays = ZoneInfo(config.time_zone), set(config.holidays)
    moment, left = now, age
    for _ in range(LONGEST_BREAK_DAYS):
        day_start = _midnight(moment, zone)
        if _is_working_day(day_start.astimezone(zone).date(), holidays):
            if moment - day_start >= left:
                return moment - left
            left -= moment - day_start
        moment = day_start
    return moment - left


def _midnight(moment: datetime, zone: ZoneInfo) -> datetime:
    """The start of the day of `moment`; for a midnight, the start of the day that ends with it."""
    day = (moment - timedelta(microseconds=1)).astimezone(zone).date()
    return datetime.combine(day, time.min, zone).astimezone(UTC)


def _is_working_day(day: date, holidays: set[str]) -> bool:
    return day.weekday() < SATURDAY and day.isoformat() not in holidays
