"""Runs an exported database, which is SQL text, in memory. The text is not trusted."""

import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from ctxhub.importers.shared.files import NotReadable
from ctxhub.importers.shared.values import text_of

HEADER = b"SQLite format 3\0"
TEXT_BYTES = 512 * 1024 * 1024
VALUE_BYTES = 64 * 1024 * 1024
SECONDS = 60.0
STEPS_PER_CHECK = 10_000

SCHEMA = "sqlite_master"
# The statements of an export.
STATEMENTS = (sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX, sqlite3.SQLITE_INSERT)
# What they need themselves: an index reads its columns, and several rows of VALUES are a SELECT.
WITHIN: Mapping[int, Collection[int]] = {
    sqlite3.SQLITE_READ: (sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_INDEX),
    sqlite3.SQLITE_SELECT: (sqlite3.SQLITE_INSERT,),
}
ALWAYS = (sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_REINDEX)
NAMED: Mapping[int, Collection[str]] = {
    sqlite3.SQLITE_UPDATE: (SCHEMA,),
    sqlite3.SQLITE_DELETE: ("sqlite_sequence",),
    sqlite3.SQLITE_PRAGMA: ("defer_foreign_keys", "foreign_keys"),
    sqlite3.SQLITE_FUNCTION: (
        *("replace", "char", "unistr"),
        *("current_timestamp", "current_date", "current_time", "datetime", "strftime"),
    ),
}


def is_export(path: Path) -> bool:
    """Whether a file is something else than a SQLite database, and so perhaps an exported one."""
    try:
        with path.open("rb") as file:
            return file.read(len(HEADER)) not in (b"", HEADER)
    except OSError:
        return False  # SQLite describes the error.


@contextmanager
def open_export(path: Path) -> Iterator[sqlite3.Connection]:
    """The database in memory that the SQL text creates. Raises NotReadable."""
    script = _read(path)
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.text_factory = text_of
    try:
        _set_limits(connection, len(script))
        connection.set_authorizer(Authorizer().authorize)
        connection.executescript(script)
        connection.set_authorizer(None)
        connection.set_progress_handler(None, 0)
        yield connection
    except (sqlite3.Error, ValueError) as error:
        raise NotReadable(_describe_error(path, error)) from error
    finally:
        connection.close()


class Authorizer:
    """Allows CREATE TABLE, CREATE INDEX and INSERT of values, and the pragmas and functions of exports."""

    def __init__(self) -> None:
        self._statement = 0

    def authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        return sqlite3.SQLITE_OK if self._allows(action, first or second or "") else sqlite3.SQLITE_DENY

    def _allows(self, action: int, name: str) -> bool:
        if action in STATEMENTS:
            # A row of the schema is written within CREATE.
            self._statement = self._statement if name == SCHEMA else action
            return True
        if action in WITHIN:
            return self._statement in WITHIN[action]
        return action in ALWAYS or name.lower() in NAMED.get(action, ())


def _read(path: Path) -> str:
    if path.stat().st_size > TEXT_BYTES:
        raise NotReadable(
            f"{path} is larger than {TEXT_BYTES // 1024**2} MiB. Import a database made of it:"
            " sqlite3 new.db < FILE."
        )
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotReadable(f"{path} is neither a SQLite database nor the SQL text of one in UTF-8.") from error


def _set_limits(connection: sqlite3.Connection, characters: int) -> None:
    """Bound time and memory: a short statement can create long values and many rows."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
    [(page_size,)] = connection.execute("PRAGMA page_size")
    connection.execute(f"PRAGMA max_page_count = {(4 * characters + VALUE_BYTES) // page_size}")
    end = monotonic() + SECONDS
    connection.set_progress_handler(lambda: monotonic() > end, STEPS_PER_CHECK)


def _describe_error(path: Path, error: Exception) -> str:
    message = str(error)
    if any(word in message for word in ("not authorized", "prohibited")):
        return (
            f"{path} is no export, which only creates tables and indexes and inserts values: {message}."
            " Nothing is imported."
        )
    if any(word in message for word in ("interrupted", "too big", "full")):
        return f"{path} takes more time or memory than an export does ({message}). Nothing is imported."
    return f"{path} is neither a SQLite database nor the SQL text of one ({message})."
