"""Figures over numeric decisions and their history: how often, how much, and how it went in time."""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import NotRequired

from django.db import connection

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.events.selectors.events import moment_of
from ctxhub.core.kit import sql
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import clean_moment, clean_name, clean_one_of
from ctxhub.core.kit.pages import Condition
from ctxhub.core.vocabulary.selectors.names import find_vocabulary
from memory.decisions.sql.numbers import Measurement, has_decisions, key_like, read_measurements

BUCKETS = ("hour", "day", "week", "month")
COLUMNS = ["at", "count", "mean"]
MEASUREMENTS_READ = 100_000
BUCKETS_SHOWN = 500
DIGITS = 12

Number = int | float


class Analytics(TypedDict):
    count: int
    min: NotRequired[Number]
    max: NotRequired[Number]
    mean: NotRequired[Number]
    p50: NotRequired[Number]
    p95: NotRequired[Number]
    last: NotRequired[Number]
    columns: NotRequired[list[str]]
    rows: NotRequired[list[list[str | Number]]]
    omitted: NotRequired[int]
    more: NotRequired[bool]
    hint: NotRequired[str]


def analyse_decisions(
    project_id: int,
    pattern: str,
    *,
    since: str | None = None,
    until: str | None = None,
    bucket: str | None = None,
    layer: str | None = None,
) -> Analytics:
    """Figures over every number that a decision whose key matches the glob holds, or has held.

    With `bucket` also rows at (when it begins, UTC), count, mean: newest first, without the empty ones,
    500 at most (`omitted` counts the rest). `more`: there are more than the newest 100,000, which are what is
    told of. Texts are left out.
    """
    kind = clean_one_of(bucket, BUCKETS, "bucket") if bucket else ""
    chosen = _chosen(project_id, clean_name(pattern, "pattern"), layer)
    when = _when(project_id, since=since, until=until)
    found = read_measurements(chosen, when, MEASUREMENTS_READ + 1)
    if not found:
        return _nothing(chosen, has_time=bool(when))
    newest = found[:MEASUREMENTS_READ]
    answer = _figures(newest)
    if kind:
        answer |= _by_time(newest, kind)
    return {**answer, "more": True} if len(found) > MEASUREMENTS_READ else answer


# -- What is asked for -----------------------------------------------------------------------------


def _chosen(project_id: int, pattern: str, layer: str | None) -> list[Condition]:
    conditions: list[Condition] = [("d.project_id = %s", [project_id]), *key_like(pattern)]
    if layer:
        layer_id, _ = find_vocabulary(project_id, layers=True).layer(clean_name(layer, "layer"))
        # The plus keeps SQLite with the keys; PostgreSQL has statistics to choose by.
        plus = "+" if connection.vendor == "sqlite" else ""
        conditions.append((f"{plus}d.layer_id = %s", [layer_id]))
    return conditions


def _when(project_id: int, **said: str | None) -> list[Condition]:
    conditions: list[Condition] = []
    for name, comparison in (("since", ">="), ("until", "<")):
        if (moment := moment_of(project_id, clean_moment(said[name], name))) is not None:
            conditions.append((f"m.at {comparison} %s", [sql.stored_time(moment)]))
    return conditions


def _nothing(chosen: Sequence[Condition], *, has_time: bool) -> Analytics:
    if not has_decisions(chosen):
        return {"count": 0}
    among = " in that time" if has_time else ""
    return {"count": 0, "hint": f"Keys match, and none of them held a number{among}: texts are left out."}


# -- Figures ---------------------------------------------------------------------------------------


def _figures(newest_first: Sequence[Measurement]) -> Analytics:
    values = sorted(measured.value for measured in newest_first)
    return {
        "count": len(values),
        "min": values[0],
        "max": values[-1],
        "mean": _mean(values),
        "p50": percentile(values, 0.5),
        "p95": percentile(values, 0.95),
        "last": newest_first[0].value,
    }


def percentile(ordered: Sequence[Number], share: float) -> Number:
    """The value below which `share` of the others lie, between two of them by linear interpolation.

    With n values x[0..n-1] in order it lies at h = (n - 1) * share: x[floor h] and the next one, weighted by
    how near h is to each. So does percentile_cont of PostgreSQL. Source: Hyndman and Fan, Sample Quantiles in
    Statistical Packages, The American Statistician 50 (1996), definition 7.
    """
    place = (len(ordered) - 1) * share
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    # Weighted, for the difference of two very large numbers would not be finite.
    return low if low == high else _rounded(low * (1 - place % 1) + high * (place % 1))


def _mean(values: Sequence[Number]) -> Number:
    """Exact up to the last rounding, in whatever order the values come."""
    if values[0] == values[-1] and min(values) == max(values):
        return values[0]
    try:
        return _rounded(math.fsum(values) / len(values))
    except OverflowError:
        return _rounded(math.fsum(value / len(values) for value in values))


def _rounded(value: float) -> Number:
    """Twelve digits, for more would tell of calculating with binary fractions; and 15 rather than 15.0."""
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 10**DIGITS else short


# -- In time ---------------------------------------------------------------------------------------


def _by_time(newest_first: Iterable[Measurement], bucket: str) -> Analytics:
    rows: list[list[str | Number]] = []
    for start, group in groupby(newest_first, lambda measured: _start(measured.at, bucket)):
        values = [measured.value for measured in group]
        rows.append([format_time(start), len(values), _mean(values)])
    omitted = len(rows) - BUCKETS_SHOWN
    shown: Analytics = {"columns": COLUMNS, "rows": rows[:BUCKETS_SHOWN]}  # type: ignore[typeddict-item]
    return {**shown, "omitted": omitted} if omitted > 0 else shown


def _start(at: datetime, bucket: str) -> datetime:
    """When the hour, day, week (Monday) or month of a moment begins, in UTC."""
    hour = at.replace(minute=0, second=0, microsecond=0)
    if bucket == "hour":
        return hour
    day = hour.replace(hour=0)
    if bucket == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if bucket == "month" else day
