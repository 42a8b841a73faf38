"""Statistics over numeric decisions and their history, in total and over time."""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any, NamedTuple, NotRequired, Unpack

from django.db import connection

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.events.log import moment_of
from ctxhub.core.kit import sql
from ctxhub.core.kit.buckets import BUCKETS, start_of
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import MAX_LIMIT, NAME_LENGTH, clean_limit, clean_moment, clean_name, clean_one_of
from ctxhub.core.kit.listing import Listing, page_in_memory
from ctxhub.core.kit.pages import Condition
from ctxhub.core.vocabulary.names import find_vocabulary
from ctxhub.toolbox.argument_types import SINCE, About, Cursor, Default, Limit, Says, Time
from memory.decisions.inputs import plain_number
from memory.decisions.models import typed_value

# Sorts the current value after all revisions.
_CURRENT_PLACE = 2**63 - 1
# Characters of a text that may be a number, with blanks around it.
_LONGEST_NUMBER = 400


class Measurement(NamedTuple):
    at: datetime
    value: int | float


class Measured(NamedTuple):
    """Numbers, newest first; `left_out` counts the values that are none."""

    numbers: list[Measurement]
    left_out: int


def read_measurements(conditions: Sequence[Condition], when: Sequence[Condition], at_most: int) -> Measured:
    """Return up to `at_most` values, the numbers before the others. A text that is a plain number is one.

    `conditions` filter the decision `d`, `when` the time `m.at`. A revision with the same version as the one
    before it records a change of another field: its value is counted once, at the first of them.
    """
    where = " AND ".join(text for text, _ in conditions)
    moments = "".join(f" AND {text}" for text, _ in when)
    parameters = [value for _, values in (*conditions, *when) for value in values]
    found = sql.rows(
        f"""
        WITH chosen AS MATERIALIZED (
            SELECT d.id FROM memory_decision d WHERE {where}),
        states AS (
            SELECT r.decision_id, r.id AS place, r.version, {_value("r")}, r.value_type, r.at
            FROM chosen c CROSS JOIN memory_decisionrevision r WHERE r.decision_id = c.id
            UNION ALL
            SELECT d.id, {_CURRENT_PLACE}, d.version, {_value("d")}, d.value_type, d.updated_at
            FROM chosen c CROSS JOIN memory_decision d WHERE d.id = c.id),
        measured AS (
            SELECT s.*, lag(s.version) OVER (PARTITION BY s.decision_id ORDER BY s.place) AS before
            FROM states s)
        SELECT m.at, m.value, m.value_type FROM measured m
        WHERE (m.before IS NULL OR m.before <> m.version){moments}
        ORDER BY m.value IS NULL, m.at DESC, m.decision_id DESC, m.place DESC LIMIT %s""",
        [*parameters, at_most],
    )
    numbers = [
        Measurement(sql.read_time(at), number)
        for at, text, kind in found
        if text is not None and (number := _number(text, kind)) is not None
    ]
    return Measured(numbers, len(found) - len(numbers))


def _value(row: str) -> str:
    """The value of a row as `value`; NULL for what is surely no number, so that no long text is read."""
    has_digit = f"{row}.value GLOB '*[0-9]*'" if connection.vendor == "sqlite" else f"{row}.value ~ '[0-9]'"
    may_be_one = f"{row}.number IS NOT NULL OR (length({row}.value) <= {_LONGEST_NUMBER} AND {has_digit})"
    return f"CASE WHEN {may_be_one} THEN {row}.value END AS value"


def has_decisions(conditions: Sequence[Condition]) -> bool:
    where = " AND ".join(text for text, _ in conditions)
    statement = f"SELECT 1 FROM memory_decision d WHERE {where} LIMIT 1"
    return bool(sql.rows(statement, [value for _, values in conditions for value in values]))


def key_like(pattern: str) -> list[Condition]:
    """Return conditions for keys that match a glob (`*`: any text). Its literal prefix uses an index."""
    prefix = pattern.partition("*")[0]
    if prefix == pattern:
        return [("d.key = %s", [pattern])]
    if connection.vendor == "postgresql":
        escaped = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("*", "%")
        return [("d.key LIKE %s", [escaped])]  # Served by the index memory_decision_by_prefix.
    globbed = pattern.replace("[", "[[]").replace("?", "[?]")
    conditions: list[Condition] = [("d.key GLOB %s", [globbed])]
    if prefix:
        conditions += [("d.key >= %s", [prefix]), ("d.key < %s", [_prefix_end(prefix)])]
    return conditions


def _prefix_end(prefix: str) -> str:
    """Return a text greater than every key with the prefix, padded with the last Unicode character."""
    return prefix + "\U0010ffff" * NAME_LENGTH


def _number(text: Any, kind: int) -> int | float | None:
    value = typed_value(text, kind)
    return plain_number(value) if isinstance(value, str) else value


COLUMNS = ("at", "count", "mean")
MEASUREMENTS_READ = 100_000
DIGITS = 12

Number = int | float


class Bucket(TypedDict):
    at: Annotated[Time, About("When it begins.")]
    count: int
    mean: Number


class Statistics(TypedDict):
    count: Annotated[int, About("How many numbers; with 0 there is nothing else, but perhaps `hint`.")]
    min: NotRequired[Number]
    max: NotRequired[Number]
    mean: NotRequired[Number]
    p50: NotRequired[Number]
    p95: NotRequired[Number]
    last: NotRequired[Annotated[Number, About("The one written last.")]]
    left_out: NotRequired[Annotated[int, About("Values that are texts, and no plain numbers.")]]
    total: NotRequired[Annotated[int, About("How many buckets there are.")]]
    next: NotRequired[Annotated[str | None, About("The cursor of the next page of buckets.")]]
    more: NotRequired[Annotated[bool, About("Only the newest 100,000 numbers were read.")]]
    hint: NotRequired[str]


class AnalyticsFilters(TypedDict, total=False):
    """What `decision analytics` takes besides the pattern, before validation."""

    since: Annotated[str, About(f"Numbers written since. {SINCE}")] | None
    until: Annotated[str, About(f"Numbers written before. {SINCE}")] | None
    bucket: Annotated[str, Says("hour|day|week|month"), About("Also a row for each of these.")] | None
    layer: Annotated[str, About("Only decisions of this layer.")] | None
    limit: Annotated[Limit, Default(MAX_LIMIT), About("How many buckets a page holds; left out: 200.")]
    cursor: Cursor | None


def analyse_decisions(
    project_id: int, pattern: str, **filters: Unpack[AnalyticsFilters]
) -> Listing | Statistics:
    """Compute statistics over all current and past numbers of decisions whose key matches a glob.

    With `bucket` they are beside a page of the buckets: newest first, without empty ones. `more`: there are
    over 100,000 numbers, and only the newest 100,000 are included. Texts that are plain numbers count;
    `left_out` is the number of others.
    """
    limit, cursor = clean_limit(filters.get("limit", MAX_LIMIT)), filters.get("cursor")
    kind = clean_one_of(bucket, BUCKETS, "bucket") if (bucket := filters.get("bucket")) else ""
    conditions = _decision_conditions(project_id, clean_name(pattern, "pattern"), filters.get("layer"))
    when = _time_conditions(project_id, since=filters.get("since"), until=filters.get("until"))
    found = read_measurements(conditions, when, MEASUREMENTS_READ + 1)
    if not found.numbers:
        return _empty_answer(conditions, found.left_out, has_time=bool(when))
    newest = found.numbers[:MEASUREMENTS_READ]
    answer = _totals(newest)
    if found.left_out:
        answer["left_out"] = found.left_out
    if len(found.numbers) > MEASUREMENTS_READ:
        answer["more"] = True
    return _buckets(newest, kind, limit, cursor).beside(answer) if kind else answer


def analyse_decision(project_id: int, decision_id: int) -> tuple[Statistics, Sequence[Measurement]]:
    """The statistics over the current and past numbers of one decision, and the numbers, newest first."""
    conditions: list[Condition] = [("d.project_id = %s", [project_id]), ("d.id = %s", [decision_id])]
    found = read_measurements(conditions, [], MEASUREMENTS_READ).numbers
    return (_totals(found) if found else {"count": 0}), found


# -- Conditions ------------------------------------------------------------------------------------


def _decision_conditions(project_id: int, pattern: str, layer: str | None) -> list[Condition]:
    conditions: list[Condition] = [("d.project_id = %s", [project_id]), *key_like(pattern)]
    if layer:
        layer_id, _ = find_vocabulary(project_id, layers=True).layer(clean_name(layer, "layer"))
        # The unary plus makes SQLite use the index on keys; PostgreSQL chooses by statistics.
        plus = "+" if connection.vendor == "sqlite" else ""
        conditions.append((f"{plus}d.layer_id = %s", [layer_id]))
    return conditions


def _time_conditions(project_id: int, **times: str | None) -> list[Condition]:
    conditions: list[Condition] = []
    for name, comparison in (("since", ">="), ("until", "<")):
        if (moment := moment_of(project_id, clean_moment(times[name], name))) is not None:
            conditions.append((f"m.at {comparison} %s", [sql.stored_time(moment)]))
    return conditions


def _empty_answer(conditions: Sequence[Condition], left_out: int, *, has_time: bool) -> Statistics:
    if not has_decisions(conditions):
        return {"count": 0}
    period = " in that time" if has_time else ""
    answer: Statistics = {"count": 0}
    if left_out:
        answer["left_out"] = left_out
    answer["hint"] = f"Keys match, and none of them held a number{period}: texts are left out."
    return answer


# -- Statistics ------------------------------------------------------------------------------------


def _totals(newest_first: Sequence[Measurement]) -> Statistics:
    values = sorted(measurement.value for measurement in newest_first)
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
    """Return the percentile `share` (0..1) of sorted values, by linear interpolation.

    With n values x[0..n-1] its position is h = (n - 1) * share: x[floor h] and the next value, weighted by
    how close h is to each. PostgreSQL's percentile_cont does the same. Source: Hyndman and Fan, Sample
    Quantiles in Statistical Packages, The American Statistician 50 (1996), definition 7.
    """
    position = (len(ordered) - 1) * share
    low, high = ordered[math.floor(position)], ordered[math.ceil(position)]
    # A weighted sum, because the difference of two very large numbers may overflow.
    return low if low == high else _rounded(low * (1 - position % 1) + high * (position % 1))


def _mean(values: Sequence[Number]) -> Number:
    """Return the mean, exact up to the final rounding, whatever the order of the values."""
    if values[0] == values[-1] and min(values) == max(values):
        return values[0]
    try:
        return _rounded(math.fsum(values) / len(values))
    except OverflowError:
        return _rounded(math.fsum(value / len(values) for value in values))


def _rounded(value: float) -> Number:
    """Round to 12 significant digits, which hides binary rounding errors; 15.0 becomes 15."""
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 10**DIGITS else short


# -- Buckets ---------------------------------------------------------------------------------------


def _buckets(newest_first: Iterable[Measurement], bucket: str, limit: int, cursor: str | None) -> Listing:
    rows: list[list[str | Number]] = []
    for start, group in groupby(newest_first, lambda measurement: start_of(measurement.at, bucket)):
        values = [measurement.value for measurement in group]
        rows.append([format_time(start), len(values), _mean(values)])
    return page_in_memory(COLUMNS, rows, list, limit=limit, cursor=cursor)
