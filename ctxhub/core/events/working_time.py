"""Time that counts: where a project ignores weekends, an age is measured in working days only."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from ctxhub.core.accounts.models.config import Config

SATURDAY = 5
LONGEST_BREAK_DAYS = 1_000  # Holidays without end would never let anything age.


def moment_before(now: datetime, age: timedelta, config: Config) -> datetime:
    """What lies `age` before `now`; with `ignore_weekend`, that much working time before it.

    At 15:00 on a Monday, 24 hours before is 15:00 on Friday: what was written then is due now.
    """
    if not config.ignore_weekend:
        return now - age
    zone, holidays = ZoneInfo(config.time_zone), set(config.holidays)
    moment, left = now, age
    for _ in range(LONGEST_BREAK_DAYS):
        begins = _midnight(moment, zone)
        if _is_working_day(begins.astimezone(zone).date(), holidays):
            if moment - begins >= left:
                return moment - left
            left -= moment - begins
        moment = begins
    return moment - left


def _midnight(moment: datetime, zone: ZoneInfo) -> datetime:
    """Where the day begins in which `moment` lies, or ends: the instant before belongs to it."""
    day = (moment - timedelta(microseconds=1)).astimezone(zone).date()
    return datetime.combine(day, time.min, zone).astimezone(UTC)


def _is_working_day(day: date, holidays: set[str]) -> bool:
    return day.weekday() < SATURDAY and day.isoformat() not in holidays
