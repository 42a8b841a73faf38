"""The period of a timeline, from the query string: the last hours, since the last visit, or from and to."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.dateparse import parse_datetime

from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen

LAST = {
    "1h": timedelta(hours=1),
    "12h": timedelta(hours=12),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
TITLES = {"1h": "1 hour", "12h": "12 hours", "24h": "24 hours", "7d": "7 days", "30d": "30 days"}
DEFAULT = "24h"
VISIT = "visit"
LONGEST = timedelta(days=31)
SHORTEST = timedelta(minutes=1)
EVENING = time(18)
YEARS = range(1900, 9000)
FIELD_FORMAT = "%Y-%m-%dT%H:%M"


@frozen
class Period:
    """From `begin` until before `end`, in UTC. `last`: the choice that it comes from; "" for from and to.

    `problem`: a sentence for the person if the query could not be followed. `has_end`: the end is chosen too;
    else it is the current time.
    """

    begin: datetime
    end: datetime
    zone: ZoneInfo
    last: str = ""
    problem: str = ""
    has_end: bool = False

    @property
    def length(self) -> timedelta:
        return self.end - self.begin

    @property
    def first_field(self) -> str:
        """`begin` as the value of an input of the type datetime-local, in the project's time zone."""
        return self.local(self.begin).strftime(FIELD_FORMAT)

    @property
    def last_field(self) -> str:
        return self.local(self.end).strftime(FIELD_FORMAT)

    def local(self, at: datetime) -> datetime:
        return at.astimezone(self.zone)


def read_period(
    query: Mapping[str, str], zone: ZoneInfo, last_visit: datetime | None = None, default: str = DEFAULT
) -> Period:
    """Without a readable choice, `default`. A period has at most 31 days: the last ones."""
    now = clock.now()
    period = _chosen(query, zone, last_visit, default, now)
    if isinstance(period, Period):
        return period
    return Period(now - LAST[default], now, zone, default, f"{period} Shown: {TITLES[default]}.")


def _chosen(
    query: Mapping[str, str], zone: ZoneInfo, last_visit: datetime | None, default: str, now: datetime
) -> Period | str:
    """The period, or what is wrong with the query."""
    if query.get("from"):
        return _between(query["from"], query.get("to", ""), zone, now)
    last = query.get("last") or default
    if last == VISIT:
        begin = max(last_visit or now - LAST[DEFAULT], now - LONGEST)
        return Period(min(begin, now - SHORTEST), now, zone, VISIT)
    if last not in LAST:
        return f"There is no period {last[:20]!r}."
    return Period(now - LAST[last], now, zone, last)


def in_words(length: timedelta) -> str:
    """`20 minutes`, `2.5 hours`."""
    hours = length / timedelta(hours=1)
    unit, number = ("hours", hours) if hours >= 1 else ("minutes", 60 * hours)
    shown = f"{number:.1f}".removesuffix(".0")
    return f"1 {unit[:-1]}" if shown == "1" else f"{shown} {unit}"


def yesterday_evening(zone: ZoneInfo) -> datetime:
    """Yesterday at 18:00 in the project's time zone, in UTC."""
    yesterday = clock.now().astimezone(zone).date() - timedelta(days=1)
    return datetime.combine(yesterday, EVENING, zone).astimezone(UTC)


def _between(first: str, last: str, zone: ZoneInfo, now: datetime) -> Period | str:
    begin, end = _read(first, zone), _read(last, zone) if last else now
    if begin is None or end is None:
        return "A time is written like 2026-11-23T18:00."
    if begin >= end:
        return "The period ends before it begins."
    if end - begin > LONGEST:
        problem = "A period has at most 31 days; these are the last."
        return Period(end - LONGEST, end, zone, problem=problem, has_end=bool(last))
    return Period(begin, max(end, begin + SHORTEST), zone, has_end=bool(last))


def _read(text: str, zone: ZoneInfo) -> datetime | None:
    try:
        at = parse_datetime(text.strip())
        read = at and (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    # Beyond, the same time in another zone may have no date any more.
    return read if read and read.year in YEARS else None
