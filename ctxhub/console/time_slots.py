"""Counts rows by time, in one statement and without a Python function for each row.

Django's own truncation of datetimes calls one on SQLite: 3 s for 200,000 events. A stored time begins with
its UTC time, and both engines can take that with a substring.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db.models import CharField, Count, F, QuerySet
from django.db.models.functions import Cast, Substr
from django.utils import timezone

# The lengths of a slot, and of the text that a time in it begins with.
MINUTE, TEN_MINUTES, HOUR = timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1)
CHARACTERS = {
    MINUTE: len("2026-11-24 10:07"),
    TEN_MINUTES: len("2026-11-24 10:0"),
    HOUR: len("2026-11-24 10"),
}
REST = "2026-01-01 00:00"


def count_by_slot(rows: QuerySet[Any], field: str, slot: timedelta, *columns: str) -> Iterator[Any]:
    """Tuples of the slot's beginning, the columns' values and the number of rows. `field`: a datetime."""
    length = CHARACTERS[slot]
    begins = Substr(Cast(field, CharField()), 1, length)
    # Grouped by time first, as the rows are read: SQLite then takes a sixth less than by a column first.
    named = {f"by_{column}": F(column) for column in columns}
    groups = rows.order_by().values(begins=begins).annotate(**named, count=Count("pk"))
    for text, *values, count in groups.values_list("begins", *named, "count"):
        yield begin_of(text), *values, count


@lru_cache(maxsize=1024)
def begin_of(text: str) -> datetime:
    """When the slot begins whose times begin with this text."""
    return datetime.fromisoformat(text + REST[len(text) :]).replace(tzinfo=UTC)


def count_by_day(rows: QuerySet[Any], field: str) -> Counter[date]:
    """The number of rows on each day of the current time zone that has some."""
    offset = timezone.localtime().utcoffset() or timedelta()
    counts: Counter[date] = Counter()
    # A few time zones differ from UTC by quarters of an hour.
    for at, count in count_by_slot(rows, field, TEN_MINUTES if offset % HOUR else HOUR):
        counts[timezone.localtime(at).date()] += count
    return counts
