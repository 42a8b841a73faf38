"""SQL of use: adds to the counts, reads them by time, agent and operation, and deletes old ones."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from ctxhub.core.kit import sql

AT_ONCE = 500
_KEY = ("project_id", "hour", "folded", "operation")
_SEARCH_KEY = ("project_id", "folded")


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
    """Add to the counts, in the order of the keys: two processes that add at once wait for each other."""
    for some in sql.chunks(sorted(counts), AT_ONCE):
        sql.insert(
            "core_tokenuse",
            (*_KEY, "name", *_COLUMNS),
            [(project_id, sql.stored_time(key.hour), key.folded, key.operation, *new) for key, new in some],
            f"ON CONFLICT ({', '.join(_KEY)}) DO UPDATE SET {_ADDED}, most_tokens ="
            " CASE WHEN excluded.most_tokens > core_tokenuse.most_tokens"
            " THEN excluded.most_tokens ELSE core_tokenuse.most_tokens END",
        )


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
    statement = (
        "DELETE FROM core_tokenuse WHERE id IN (SELECT id FROM core_tokenuse"
        " WHERE project_id = %s AND hour < %s ORDER BY hour, id LIMIT %s) RETURNING id"
    )
    return len(sql.rows(statement, [project_id, sql.stored_time(before), at_most]))


def add_empty_searches(project_id: int, asked: Iterable[tuple[str, AskedTimes]]) -> None:
    """Add to how often questions, by case-folded text, found nothing."""
    for some in sql.chunks(sorted(asked), AT_ONCE):
        sql.insert(
            "core_emptysearch",
            (*_SEARCH_KEY, "query", "name", "count", "first_at", "last_at"),
            [
                (
                    *(project_id, folded, new.query, new.name, new.times),
                    *(sql.stored_time(new.first_at), sql.stored_time(new.last_at)),
                )
                for folded, new in some
            ],
            f"ON CONFLICT ({', '.join(_SEARCH_KEY)}) DO UPDATE SET"
            " count = core_emptysearch.count + excluded.count,"
            " name = excluded.name, query = excluded.query, last_at = excluded.last_at",
        )


def delete_empty_searches(project_id: int, before: datetime | None, keep: int, at_most: int) -> int:
    """Delete questions last asked before a time (None: of any age), and all but the newest `keep`."""
    old = "last_at < %s" if before else "FALSE"
    values: Sequence[Any] = [sql.stored_time(before)] if before else []
    statement = (
        "DELETE FROM core_emptysearch WHERE id IN (SELECT id FROM ("
        f"SELECT id FROM core_emptysearch WHERE project_id = %s AND {old} UNION SELECT id FROM ("
        "SELECT id FROM core_emptysearch WHERE project_id = %s ORDER BY last_at DESC, id DESC"
        " LIMIT %s OFFSET %s) others) gone LIMIT %s) RETURNING id"
    )
    return len(sql.rows(statement, [project_id, *values, project_id, at_most, keep, at_most]))


_COLUMNS = ("writes", "calls", "errors", "tokens", "whole_tokens", "most_tokens")
_ADDED = ", ".join(
    f"{name} = core_tokenuse.{name} + excluded.{name}"
    for name in ("calls", "errors", "tokens", "whole_tokens")
)


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
