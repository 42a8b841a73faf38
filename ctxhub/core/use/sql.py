"""SQL of use: adds to the counts, reads them by time, agent and operation, and deletes old ones."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from ctxhub.core.kit import sql
from ctxhub.core.kit.counts import Counts, How

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
