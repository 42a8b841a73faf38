"""SQL helpers for hot paths. They hide the differences between SQLite and PostgreSQL."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import chain
from time import monotonic
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections

from ctxhub.core.kit.read_limit import checkpoint, count_waiting

Row = Sequence[Any]
Selected = tuple[str, Sequence[Any]]
"""A SELECT, and the values of its placeholders."""
T = TypeVar("T")
U = TypeVar("U")

FEW = 50
_VALUE_MARK = re.compile("(?<!%)%s")


@cache
def is_sqlite() -> bool:
    """Whether the database is SQLite, else it is PostgreSQL. A process has one."""
    return connection.vendor == "sqlite"


def rows(statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Run a statement; returns the rows of its result, none if it has no result.

    Django's cursor and its wrappers cost as much as a look-up by id, so they run only while somebody listens
    to them: tests, debugging.
    """
    database = connections[DEFAULT_DB_ALIAS]
    database.close_if_health_check_failed()
    database.ensure_connection()
    if database.execute_wrappers or database.queries_logged:
        with _watched_cursor(database) as cursor:
            cursor.execute(statement, values)
            return _all_rows(cursor)
    database.validate_no_broken_transaction()
    checkpoint()
    with database.wrap_database_errors:
        if is_sqlite():
            return _all_rows(database.connection.execute(_for_sqlite(statement), values))
        started = monotonic()
        found = _all_rows(_preparing_cursor(database).execute(statement, values))
        count_waiting(monotonic() - started)
        return found


def _preparing_cursor(database: Any) -> Any:
    """A cursor of psycopg that sends values apart from the statement, so that PostgreSQL plans it once.

    Django's own writes the values into the text: planning took up to half the time of a statement.
    """
    return database.Database.Cursor(database.connection)


def _watched_cursor(database: Any) -> Any:
    if is_sqlite() or database.queries_logged:  # The log shows the values in the statement.
        return database.cursor()
    return database.make_cursor(_preparing_cursor(database))


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """A read that can be done with others: a statement of so many `columns`, and what is made of its rows.

    Times may arrive as text and JSON as objects: `read_time` and `read_json` understand either.
    """

    statement: str
    values: Sequence[Any]
    columns: int
    made: Callable[[Sequence[Row]], T]

    def then(self, make: Callable[[T], U]) -> "Reading[U]":
        return Reading(self.statement, self.values, self.columns, lambda found: make(self.made(found)))

    def now(self) -> T:
        return self.made(rows(self.statement, self.values))


def read_together(readings: Sequence[Reading[T]]) -> list[T]:
    """The results of reads: in one statement on PostgreSQL, where each costs a round trip."""
    if is_sqlite() or len(readings) < 2:
        return [reading.now() for reading in readings]
    parts: list[str] = []
    values: list[Any] = []
    for number, reading in enumerate(readings):
        names = [f"c{column}" for column in range(reading.columns)]
        row = f"{json_array(*names)}::text"
        parts.append(f"SELECT {number}, {row} FROM ({reading.statement}) q({', '.join(names)})")
        values += reading.values
    found: list[list[Row]] = [[] for _ in readings]
    for number, row in rows(" UNION ALL ".join(parts), values):
        found[number].append(json.loads(row))
    return [reading.made(each) for reading, each in zip(readings, found, strict=True)]


def execute(statement: str, values: Sequence[Any] = ()) -> None:
    rows(statement, values)


def insert(
    table: str, columns: Sequence[str], records: Iterable[Row], then: str = ""
) -> list[tuple[Any, ...]]:
    """Insert all records in one statement; `then` follows VALUES, and its RETURNING gives the result."""
    records = list(records)
    statement = _insert_statement(table, tuple(columns), len(records), then)
    return rows(statement, [*chain.from_iterable(records)])


@lru_cache(256)
def _insert_statement(table: str, columns: tuple[str, ...], count: int, then: str) -> str:
    one = f"({', '.join(['%s'] * len(columns))})"
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join([one] * count)} {then}"


@lru_cache(256)
def _for_sqlite(statement: str) -> str:
    """The statement with SQLite's marks for values."""
    return _VALUE_MARK.sub("?", statement).replace("%%", "%")


def _all_rows(cursor: Any) -> list[tuple[Any, ...]]:
    # Psycopg makes an object of each column for the description: a tenth of a millisecond for a search.
    has_rows = cursor.description if is_sqlite() else cursor.pgresult.nfields
    found: list[tuple[Any, ...]] = cursor.fetchall() if has_rows else []
    return found


def chunks(records: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The records in chunks of `size`: a statement takes some ten thousand values at most."""
    return (records[at : at + size] for at in range(0, len(records), size))


def marks(values: Sequence[Any]) -> str:
    """Placeholders for an IN list."""
    return ", ".join(["%s"] * len(values))


def among(column: str, values: Sequence[int] | Sequence[str]) -> tuple[str, list[Any]]:
    """The condition that `column` is one of `values`, for any number of them, and its parameters."""
    if len(values) <= FEW:
        return f"{column} IN ({marks(values)})", list(values)
    if is_sqlite():
        return f"{column} IN (SELECT value FROM json_each(%s))", [json.dumps(list(values))]
    kind = (
        "bigint" if isinstance(values[0], int) else "text"
    )  # PostgreSQL hashes a list of the column's own type.
    return f"{column} = ANY(%s::{kind}[])", [list(values)]


def among_found(column: str, statement: str) -> str:
    """The condition that `column` is in the result of a statement.

    As an array, PostgreSQL runs the statement once and first; otherwise, if it expects few rows, it may scan
    the table for each of them.
    """
    if is_sqlite():
        return f"{column} IN ({statement})"
    return f"{column} = ANY(ARRAY({statement}))"


def by_ids(alias: str, project_id: int, ids: Sequence[int]) -> tuple[str, list[Any]]:
    """The condition that a row is one of these, and of the project.

    The plus keeps SQLite from using an index by project: without statistics it would scan the whole project
    for a few ids.
    """
    which, values = among(f"{alias}.id", ids) if ids else ("1 = 0", [])
    return f"+{alias}.project_id = %s AND {which}", [project_id, *values]


def listed(values: Sequence[str]) -> tuple[str, list[Any]]:
    """The values as rows of a table `asked`, each `value` in the order of its `key`."""
    if is_sqlite():
        return "json_each(%s) asked", [json.dumps(list(values))]
    return "unnest(%s::text[]) WITH ORDINALITY asked(value, key)", [list(values)]


def begins(column: str, beginning: str) -> tuple[str, list[Any]]:
    """The condition that a text begins so, and its values."""
    # Sorted by code points, as SQLite does; PostgreSQL sorts by its collation.
    if is_sqlite():
        return f"({column} >= %s AND {column} < %s)", [beginning, f"{beginning}\U0010ffff"]
    return f"starts_with({column}, %s)", [beginning]


def ending(column: str, characters: int = 20) -> str:
    """The last characters of a text."""
    function = "substr" if is_sqlite() else "right"
    return f"{function}({column}, {characters if function == 'right' else -characters})"


def size(column: str) -> str:
    """The bytes of a text or of JSON."""
    return f"length(CAST({column} AS blob))" if is_sqlite() else f"octet_length(CAST({column} AS text))"


@lru_cache(256)
def stored_time(moment: datetime) -> Any:
    return connection.ops.adapt_datetimefield_value(moment)


def days_before(column: str, days: int) -> str:
    """The time so many days before that in a column, to compare with stored times; SQLite drops fractions."""
    if connection.vendor == "sqlite":
        return f"datetime({column}, '-{days} days')"
    return f"{column} - interval '{days} days'"


def stored_json(value: Any) -> Any:
    return json.dumps(value) if is_sqlite() else connection.ops.adapt_json_value(value, None)


def read_time(value: Any) -> datetime:
    """SQLite's converter forgets the zone; everything is stored in UTC."""
    moment: datetime = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def read_json(value: Any) -> Any:
    # Most lists and objects are empty, and a tenth of a read went into parsing them.
    if value == "[]":
        return []
    if value == "{}":
        return {}
    return json.loads(value) if isinstance(value, (str, bytes)) else value


def json_list(expression: str) -> str:
    """An aggregate of `expression` as a JSON array, in no promised order."""
    return f"{'json_group_array' if is_sqlite() else 'json_agg'}({expression})"


def json_array(*expressions: str) -> str:
    """A JSON array of these values of one row."""
    function = "json_array" if is_sqlite() else "json_build_array"
    return f"{function}({', '.join(expressions)})"
