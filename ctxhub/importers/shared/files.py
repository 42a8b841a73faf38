"""Opens another program's SQLite database read only, and reads its tables."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ctxhub.core.kit.frozen import frozen
from ctxhub.importers.shared.values import text_of

LOCK_TIMEOUT_SECONDS = 5.0


class NotReadable(Exception):
    """The database cannot be imported; the message says why and what to do."""


@frozen
class OldTables:
    """An open database. `tables`: actual table name by known name; `columns`: column names by known name."""

    connection: sqlite3.Connection
    tables: Mapping[str, str]
    columns: Mapping[str, Sequence[str]]

    def has(self, table: str, column: str = "") -> bool:
        return table in self.tables and (not column or column in self.columns[table])

    def rows(self, table: str, *columns: str) -> Iterator[tuple[Any, ...]]:
        """These columns of all rows in insertion order; NULL for columns that this version lacks.

        `key|key_name` selects the first of these columns that exists.
        """
        if not self.has(table):
            return iter(())
        columns_sql = ", ".join(self._column(table, spec) for spec in columns)
        return self.connection.execute(
            f'SELECT {columns_sql} FROM "{self.tables[table]}" {self._where(table)} ORDER BY rowid'
        )

    def _where(self, table: str) -> str:
        return ""

    def _column(self, table: str, spec: str) -> str:
        known = (*self.columns[table], "rowid")
        return next((f'"{name}"' for name in spec.split("|") if name in known), "NULL")


@contextmanager
def open_readonly(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file read only, in one transaction. Raises NotReadable."""
    if not path.is_file():
        raise NotReadable(f"There is no file {str(path)!r}.")
    try:
        connection = sqlite3.connect(_uri(path), uri=True, timeout=LOCK_TIMEOUT_SECONDS)
        connection.text_factory = text_of
        try:
            # One transaction: rows written meanwhile are left to the next import.
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        raise NotReadable(_describe_error(path, error)) from error


def table_names(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def column_names(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", [table])]


def _uri(path: Path) -> str:
    """The read-only SQLite URI. A log holds rows not yet in the file; without one nobody has it open."""
    has_log = any(path.with_name(path.name + ending).exists() for ending in ("-wal", "-journal"))
    # Without a log, `immutable` keeps SQLite from creating one.
    return f"file:{quote(str(path.resolve()))}?mode=ro{'' if has_log else '&immutable=1'}"


def _describe_error(path: Path, error: sqlite3.DatabaseError) -> str:
    message = str(error)
    if "locked" in message or "busy" in message:
        return f"{path} is locked by a program that is writing to it. Stop it, or wait, and try again."
    if "not a database" in message:
        return f"{path} is not a SQLite database."
    if "malformed" in message:
        return f"{path} is damaged ({message}). Import a backup, or mend it with sqlite3's .recover first."
    return (
        f"{path} cannot be read ({message}). Copy it, with the -wal file beside it, to a folder that you may"
        " write to, and import the copy."
    )
