"""Buckets of time: hours, days, weeks and months."""

from datetime import UTC, datetime, timedelta, tzinfo

BUCKETS = ("hour", "day", "week", "month")


def start_of(at: datetime, bucket: str, zone: tzinfo = UTC) -> datetime:
    """Return the start of the hour, day, week (Monday) or month that contains a time, in a time zone."""
    hour = at.astimezone(zone).replace(minute=0, second=0, microsecond=0)
    if bucket == "hour":
        return hour
    day = hour.replace(hour=0)
    if bucket == "day":
        return day
    return day - timedelta(days=day.weekday()) if bucket == "week" else day.replace(day=1)
