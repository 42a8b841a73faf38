"""Reads use: what was called, by time, agent and operation, what the answers cost, and what found nothing."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from operator import attrgetter
from typing import Annotated, Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db.models import QuerySet
from typing_extensions import TypedDict

from ctxhub.core.accounts.config import config_of
from ctxhub.core.events.log import moment_of
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.buckets import BUCKETS, start_of
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.counts import Counts, How
from ctxhub.core.kit.errors import InvalidInput, unknown_word
from ctxhub.core.kit.inputs import clean_limit, clean_moment, clean_name, clean_one_of, clean_words
from ctxhub.core.kit.keyset import page_of
from ctxhub.core.kit.listing import Listing, Row, page_in_memory
from ctxhub.core.kit.ordering import Ordering, ordered, sorted_by
from ctxhub.core.use.models import EmptySearch
from ctxhub.toolbox.argument_types import About, Time

USE = Counts(
    "core_tokenuse",
    ("hour", "folded", "operation"),
    {
        "name": How.KEPT,
        "writes": How.KEPT,
        **dict.fromkeys(("calls", "errors", "tokens", "whole_tokens"), How.ADDED),
        "most_tokens": How.MOST,
    },
)
EMPTY_SEARCHES = Counts(
    "core_emptysearch",
    ("folded",),
    {
        **dict.fromkeys(("query", "name"), How.LATEST),
        "count": How.ADDED,
        "first_at": How.KEPT,
        "last_at": How.LATEST,
    },
)


class Key(NamedTuple):
    """What calls are counted for, within a project."""

    hour: datetime
    folded: str
    operation: str


class Counted(NamedTuple):
    name: str
    writes: bool
    calls: int
    errors: int
    tokens: int
    whole_tokens: int
    most_tokens: int


class AskedTimes(NamedTuple):
    query: str
    name: str
    times: int
    first_at: datetime
    last_at: datetime


def add_use(project_id: int, counts: Iterable[tuple[Key, Counted]]) -> None:
    USE.add(project_id, ((sql.stored_time(key.hour), key.folded, key.operation, *new) for key, new in counts))


def count_rows(project_id: int, hours: Iterable[datetime]) -> dict[datetime, int]:
    """How many rows each of these hours has."""
    counts = {}
    for hour in hours:
        [(count,)] = sql.rows(
            "SELECT count(*) FROM core_tokenuse WHERE project_id = %s AND hour = %s",
            [project_id, sql.stored_time(hour)],
        )
        counts[hour] = count
    return counts


def delete_use(project_id: int, before: datetime, at_most: int) -> int:
    """Delete the oldest counts from before a time; returns how many."""
    return USE.delete_oldest(project_id, "hour", before, at_most)


def add_empty_searches(project_id: int, asked: Iterable[tuple[str, AskedTimes]]) -> None:
    """Add to how often questions, by case-folded text, found nothing."""
    EMPTY_SEARCHES.add(
        project_id,
        (
            (folded, *new[:3], sql.stored_time(new.first_at), sql.stored_time(new.last_at))
            for folded, new in asked
        ),
    )


def delete_empty_searches(project_id: int, before: datetime | None, keep: int, at_most: int) -> int:
    """Delete questions last asked before a time (None: of any age), and all but the newest `keep`."""
    old = "last_at < %s" if before else "FALSE"
    values: Sequence[Any] = [sql.stored_time(before)] if before else []
    gone = (
        "SELECT id FROM ("
        f"SELECT id FROM core_emptysearch WHERE project_id = %s AND {old} UNION SELECT id FROM ("
        "SELECT id FROM core_emptysearch WHERE project_id = %s ORDER BY last_at DESC, id DESC"
        " LIMIT %s OFFSET %s) others) gone LIMIT %s"
    )
    statement = f"DELETE FROM core_emptysearch WHERE {sql.among_found('id', gone)} RETURNING id"
    return len(sql.rows(statement, [project_id, *values, project_id, at_most, keep, at_most]))


class UseRow(NamedTuple):
    hour: datetime
    name: str
    operation: str
    calls: int
    errors: int
    tokens: int
    whole_tokens: int
    most_tokens: int


def read_use(
    project_id: int,
    since: datetime,
    until: datetime,
    *,
    folded: str | None = None,
    tool: str | None = None,
    by: Sequence[str] = (),
) -> list[UseRow]:
    """The counts of each hour, oldest first; `by`: apart for each "agent", "operation". Else "" stands there.

    `tool`: of its operations alone.
    """
    where, values = (
        "project_id = %s AND hour >= %s AND hour < %s",
        [project_id, *map(sql.stored_time, (since, until))],
    )
    if folded is not None:
        where = f"{where} AND folded = %s"
        values.append(folded)
    if tool is not None:
        where = f"{where} AND (operation = %s OR substr(operation, 1, {len(tool) + 1}) = %s)"
        values += [tool, f"{tool}."]
    agent = "max(name)" if "agent" in by else "''"
    operation = "operation" if "operation" in by else "''"
    groups = ["hour", *(["folded"] if "agent" in by else []), *(["operation"] if "operation" in by else [])]
    rows = sql.rows(
        f"""
        SELECT hour, {agent}, {operation}, sum(calls), sum(errors), sum(tokens), sum(whole_tokens),
            max(most_tokens)
        FROM core_tokenuse WHERE {where} GROUP BY {", ".join(groups)} ORDER BY {", ".join(groups)}""",
        values,
    )
    read_time = cache(sql.read_time)  # An hour has many rows.
    return [UseRow(read_time(hour), name, op, *map(int, counts)) for hour, name, op, *counts in rows]


def read_use_of_agents(
    project_id: int, folded: Sequence[str], since: datetime
) -> dict[str, tuple[int, int, int]]:
    """Calls that write, other calls, and tokens of each agent since a time, by case-folded name."""
    among, names = sql.among("folded", folded)
    rows = sql.rows(
        f"""
        SELECT folded, sum(CASE WHEN writes THEN calls ELSE 0 END),
            sum(CASE WHEN writes THEN 0 ELSE calls END), sum(tokens)
        FROM core_tokenuse WHERE project_id = %s AND {among} AND hour >= %s GROUP BY folded""",
        [project_id, *names, sql.stored_time(since)],
    )
    return {name: (int(writes), int(reads), int(tokens)) for name, writes, reads, tokens in rows}


LATELY = timedelta(hours=24)
SINCE_DEFAULT = timedelta(days=7)
BY = ("agent", "operation")
COLUMNS = ("at", "agent", "operation", "calls", "errors", "tokens", "whole_tokens", "most_tokens")
# What the lists can be ordered by: use is summed in memory, questions have an index.
ORDERS = {
    "at": attrgetter("hour"),
    "agent": lambda row: row.name.casefold(),
    "operation": lambda row: row.operation.casefold(),
    **{name: attrgetter(name) for name in ("calls", "errors", "tokens", "whole_tokens", "most_tokens")},
}
SEARCH_ORDERS = {"last": ["last_at"], "count": ["count"]}
SEARCH_COLUMNS = ("query", "count", "agent", "first", "last")


class UseSeen(TypedDict):
    at: Annotated[Time, About("When the bucket begins, in the project's time zone.")]
    agent: Annotated[str | None, About("With `by` agent. Empty: too many in an hour to name them.")]
    operation: Annotated[str | None, About("With `by` operation: decision.set, or a method and an address.")]
    calls: int
    errors: Annotated[int, About("How many of the calls were refused or failed.")]
    tokens: Annotated[int, About("Of all answers.")]
    whole_tokens: Annotated[
        int,
        About(
            "What they would have cost with all that they show a part of whole: digests, briefs, restored"
            " conversations. Less `tokens`: what was saved. A search saves nothing that can be known."
        ),
    ]
    most_tokens: Annotated[int, About("Of the longest answer.")]


class SearchedInVain(TypedDict):
    query: str
    count: int
    agent: Annotated[str, About("Who asked last.")]
    first: Time
    last: Time


def use_between(
    project_id: int,
    since: datetime,
    until: datetime,
    *,
    bucket: str = "day",
    by: Sequence[str] = (),
    agent: str | None = None,
    tool: str | None = None,
) -> list[UseRow]:
    """The use of each bucket, oldest first, apart for each of `by`; its `hour` is the bucket's start.

    Buckets begin in the project's time zone, and those without a call are left out.
    """
    zone = ZoneInfo(config_of(project_id).time_zone)
    folded = agent.casefold() if agent is not None else None
    begin = cache(partial(start_of, bucket=bucket, zone=zone))  # An hour has many rows.
    sums: dict[tuple[datetime, str, str], UseRow] = {}
    for row in read_use(project_id, since, until, folded=folded, tool=tool, by=by):
        start = begin(row.hour)
        key = (start, row.name.casefold(), row.operation)
        sums[key] = _sum(sums[key], row) if key in sums else row._replace(hour=start)
    return [sums[key] for key in sorted(sums)]


def list_use(
    project_id: int,
    *,
    since: str | None = None,
    until: str | None = None,
    bucket: str = "day",
    by: Sequence[str] | None = None,
    of: str | None = None,
    tool: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """A page of use, newest bucket first. Without `since` of the last 7 days. `of`: of this agent.

    Raises InvalidInput.
    """
    limit = clean_limit(limit)
    first, last = _period(project_id, since, until)
    kinds = [] if by is None else _kinds(by)
    rows = use_between(
        project_id,
        first,
        last,
        bucket=clean_one_of(bucket, BUCKETS, "bucket"),
        by=kinds,
        agent=clean_name(of, "of") if of else None,
        tool=clean_name(tool, "tool") if tool else None,
    )
    rows.sort(key=lambda row: (-row.hour.timestamp(), row.name.casefold(), row.operation))
    rows = sorted_by(rows, ordering, ORDERS)
    return page_in_memory(
        COLUMNS, rows, lambda row: _row(row, kinds), limit=limit, cursor=cursor, ordering=ordering
    )


def list_empty_searches(
    project_id: int,
    *,
    since: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
    ordering: Ordering = None,
) -> Listing:
    """A page of questions that found nothing, last asked first. Raises InvalidInput."""
    rows = EmptySearch.objects.in_project(project_id)
    if moment := moment_of(project_id, clean_moment(since, "since")):
        rows = rows.filter(last_at__gte=moment)
    rows = ordered(rows.order_by("-last_at"), ordering, SEARCH_ORDERS)
    return page_of(rows, SEARCH_COLUMNS, _searches, limit=limit, cursor=cursor)


def empty_searches_between(project_id: int, since: datetime, until: datetime) -> QuerySet[EmptySearch]:
    """Questions that were last asked in vain in a range of time, those asked most often first."""
    rows = EmptySearch.objects.in_project(project_id).filter(last_at__gte=since, last_at__lt=until)
    return rows.order_by("-count", "-last_at")


def use_lately(project_id: int, folded: Sequence[str]) -> Mapping[str, tuple[int, int, int]]:
    """Calls that wrote, other calls, and tokens of agents in the last 24 full hours and this one."""
    hour = clock.now().replace(minute=0, second=0, microsecond=0)
    return read_use_of_agents(project_id, folded, hour - LATELY)


# -- Pieces ----------------------------------------------------------------------------------------


def _kinds(by: Sequence[str]) -> list[str]:
    if not any(map(str.strip, by)):
        raise unknown_word("by", "", BY)
    return [clean_one_of(kind, BY, "by") for kind in clean_words(by, "by")]


def _period(project_id: int, since: str | None, until: str | None) -> tuple[datetime, datetime]:
    # Without an end to the end of this hour.
    last = moment_of(project_id, clean_moment(until, "until")) or clock.now() + timedelta(hours=1)
    first = moment_of(project_id, clean_moment(since, "since")) or last - SINCE_DEFAULT
    if first >= last:
        raise InvalidInput("since is not before until.")
    return first.replace(minute=0, second=0, microsecond=0), last


def _sum(old: UseRow, new: UseRow) -> UseRow:
    return UseRow(
        old.hour,
        new.name,
        old.operation,
        old.calls + new.calls,
        old.errors + new.errors,
        old.tokens + new.tokens,
        old.whole_tokens + new.whole_tokens,
        max(old.most_tokens, new.most_tokens),
    )


def _row(row: UseRow, by: Sequence[str]) -> Row:
    names = [row.name if "agent" in by else None, row.operation if "operation" in by else None]
    return [format_time(row.hour.astimezone(UTC)), *names, *row[3:]]


def _searches(searches: Sequence[EmptySearch]) -> Sequence[Row]:
    return [
        [each.query, each.count, each.name, format_time(each.first_at), format_time(each.last_at)]
        for each in searches
    ]
