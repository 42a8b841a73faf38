"""Opens another program's database without changing it, and reads its tables as they are."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ctxhub.importers.shared.values import text_of

SECONDS_TO_WAIT = 5.0


class NotReadable(Exception):
    """No database that can be imported; the sentence says why, and what to do."""


@dataclass(frozen=True, slots=True)
class OldTables:
    """An open database. `tables` has what each table is called here, `columns` its columns."""

    connection: sqlite3.Connection
    tables: Mapping[str, str]
    columns: Mapping[str, Sequence[str]]

    def has(self, table: str, column: str = "") -> bool:
        return table in self.tables and (not column or column in self.columns[table])

    def rows(self, table: str, *columns: str) -> Iterator[tuple[Any, ...]]:
        """These columns of all rows, in the order they were made; NULL for those this version lacks.

        `key|key_name`: the first of these that there is.
        """
        if not self.has(table):
            return iter(())
        asked = ", ".join(self._column(table, said) for said in columns)
        return self.connection.execute(
            f'SELECT {asked} FROM "{self.tables[table]}" {self._where(table)} ORDER BY rowid'  # noqa: S608
        )

    def _where(self, table: str) -> str:
        return ""

    def _column(self, table: str, said: str) -> str:
        known = (*self.columns[table], "rowid")
        return next((f'"{name}"' for name in said.split("|") if name in known), "NULL")


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open for reading; raises NotReadable. Nothing of the file changes."""
    if not path.is_file():
        raise NotReadable(f"There is no file {str(path)!r}.")
    try:
        connection = sqlite3.connect(_address(path), uri=True, timeout=SECONDS_TO_WAIT)
        connection.text_factory = text_of
        try:
            # One transaction: what the program writes meanwhile belongs to the next import.
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        raise NotReadable(_sentence(path, error)) from error


def table_names(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def column_names(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", [table])]


def _address(path: Path) -> str:
    """Read only. A log beside the file holds what is not in it yet; without one nobody has it open."""
    has_log = any(path.with_name(path.name + ending).exists() for ending in ("-wal", "-journal"))
    # Where there is no log, `immutable` keeps SQLite from making one.
    return f"file:{quote(str(path.resolve()))}?mode=ro{'' if has_log else '&immutable=1'}"


def _sentence(path: Path, error: sqlite3.DatabaseError) -> str:
    said = str(error)
    if "locked" in said or "busy" in said:
        return f"{path} is locked by a program that is writing to it. Stop it, or wait, and try again."
    if "not a database" in said:
        return f"{path} is not a SQLite database."
    if "malformed" in said:
        return f"{path} is damaged ({said}). Import a backup, or mend it with sqlite3's .recover first."
    return (
        f"{path} cannot be read ({said}). Copy it, with the -wal file beside it, to a folder that you may"
        " write to, and import the copy."
    )
