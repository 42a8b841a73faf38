"""SQL helpers for hot paths. They hide the differences between SQLite and PostgreSQL."""

import json
import re
import sys
import threading
from asyncio import _get_running_loop
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import chain
from time import monotonic
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections

from ctxhub.core.kit.read_limit import checkpoint, count_waiting

Row = Sequence[Any]
Statement = tuple[str, Sequence[Any]]
"""A statement, and the values of its placeholders."""
Selected = Statement
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
    found = _run(statement, values)
    if _thread.reads is not None:
        _thread.reads.append((statement, values, found))
    return found


def _run(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    database = _thread.connected()
    if _is_watched(database):
        with _watched_cursor(database) as cursor:
            cursor.execute(statement, values)
            return _all_rows(cursor)
    database.validate_no_broken_transaction()
    checkpoint()
    try:
        if is_sqlite():
            return _all_rows(database.connection.execute(_for_sqlite(statement), values))
        [found] = _run_in_line(database, [(statement, values)])
        return found
    except Exception:
        database.wrap_database_errors.__exit__(*sys.exc_info())
        raise


def _run_in_line(database: Any, statements: Sequence[Statement]) -> list[list[tuple[Any, ...]]]:
    """Run statements, those that wait first, in one round trip; the rows of each but those that waited."""
    started = monotonic()
    before, _thread.waiting = _thread.waiting or [], None if _thread.waiting is None else []
    in_order = [*before, *statements]
    try:
        with database.connection.pipeline() if len(in_order) > 1 else nullcontext():
            cursors = [_preparing_cursor(database).execute(*statement) for statement in in_order]
        return [_all_rows(cursor) for cursor in cursors[len(before) :]]
    finally:
        count_waiting(monotonic() - started)


def run_together(statements: Sequence[Statement]) -> list[list[tuple[Any, ...]]]:
    """Run statements one after the other, on PostgreSQL in one round trip; the rows of each."""
    database = _thread.connected()
    if is_sqlite() or _is_watched(database):
        return [_run(*statement) for statement in statements]
    with database.wrap_database_errors:
        return _run_in_line(database, statements)


def is_watched() -> bool:
    return _is_watched(_thread.connected())


def _is_watched(database: Any) -> bool:
    """Whether somebody listens to Django's cursor, besides what is added while statements wait."""
    return len(database.execute_wrappers) > (_thread.waiting is not None) or database.queries_logged


class _Thread(threading.local):
    """The connection of a thread: Django's own look-up of it costs as much as the statement of a read.

    `reads`: where what the thread reads is recorded, if it is. `waiting`: the statements that wait for the
    next one, if they may.
    """

    database: Any = None
    reads: "list[Read] | None" = None
    waiting: "list[Statement] | None" = None

    def connected(self) -> Any:
        if _get_running_loop() is not None:  # Django gives each task a connection of its own.
            database = connections[DEFAULT_DB_ALIAS]
        else:
            database = self.database = self.database or connections[DEFAULT_DB_ALIAS]
        database.close_if_health_check_failed()
        if database.connection is None:
            database.ensure_connection()
        return database


_thread = _Thread()

Read = tuple[str, Sequence[Any], list[tuple[Any, ...]]]
"""A statement that was run, its values, and what it found."""


@dataclass(slots=True)
class Reads:
    """What was read, from a database in a certain state. `again`: what was found under the lock."""

    found: list[Read]
    state: object
    again: "list[list[tuple[Any, ...]]] | None" = None

    @property
    def statements(self) -> list[Statement]:
        return [(statement, values) for statement, values, _ in self.found]

    def are_unchanged(self) -> bool:
        """Whether the statements find the same again; in the same state they need not run."""
        if self.state is not None and self.state == _state():
            return True
        again = run_together(self.statements) if self.again is None else self.again
        return again == [found for _, _, found in self.found]


@contextmanager
def recorded_reads() -> Iterator[Reads]:
    """Record what this thread reads by `rows` in the block."""
    outer, _thread.reads = _thread.reads, []
    try:
        yield Reads(_thread.reads, _state())
    finally:
        _thread.reads = outer


def _state() -> object:
    """Differs once anything was written, by whomever; None on PostgreSQL, which cannot tell."""
    if not is_sqlite():
        return None
    # The version counts the commits of others, and `total_changes` the rows that this connection changed.
    return _run("PRAGMA data_version", ()), _thread.connected().connection.total_changes


@contextmanager
def unrecorded_reads() -> Iterator[None]:
    """What is read in the block is not recorded: nothing that is written follows from it."""
    outer, _thread.reads = _thread.reads, None
    try:
        yield
    finally:
        _thread.reads = outer


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
    """Run a statement whose result nobody reads: on PostgreSQL, in a write, together with the next one."""
    if _thread.waiting is None or _is_watched(_thread.connected()):
        _run(statement, values)
    else:
        _thread.waiting.append((statement, values))


@contextmanager
def sent_together(*, commits: bool = False) -> Iterator[None]:
    """In the block, which is a transaction of PostgreSQL, statements without a result wait for one with a
    result, for one of Django, or for the end: each round trip is time that the write lock is held.

    `commits`: the transaction ends with the block. Its COMMIT goes with what waits then; Django's own one
    finds nothing to do.
    """
    if is_sqlite() or _thread.waiting is not None:
        yield
        return
    database = _thread.connected()
    _thread.waiting = []
    database.execute_wrappers.append(_send_waiting_first)
    try:
        yield
        if commits and _thread.waiting and not database.needs_rollback:
            _thread.waiting.append(("COMMIT", ()))
        send_waiting()
    finally:
        database.execute_wrappers.remove(_send_waiting_first)
        _thread.waiting = None


def send_waiting() -> None:
    """Run the statements that wait."""
    if waiting := _thread.waiting:
        _thread.waiting = []
        database = _thread.connected()
        with database.wrap_database_errors:
            _run_in_line(database, waiting)


def _send_waiting_first(execute: Callable[..., Any], *arguments: Any) -> Any:
    send_waiting()
    return execute(*arguments)


def insert(
    table: str, columns: Sequence[str], records: Iterable[Row], then: str = ""
) -> list[tuple[Any, ...]]:
    """Insert all records in one statement; `then` follows VALUES, and its RETURNING gives the result."""
    statement, values = inserting(table, columns, list(records), then)
    if "RETURNING" in then:
        return rows(statement, values)
    execute(statement, values)
    return []


def inserting(table: str, columns: Sequence[str], records: Sequence[Row], then: str = "") -> Statement:
    """The statement of `insert`."""
    return _insert_statement(table, tuple(columns), len(records), then), [*chain.from_iterable(records)]


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
