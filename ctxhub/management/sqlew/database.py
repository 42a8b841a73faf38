"""Opens a database of sqlew without changing it, and finds its tables whichever version made them."""

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ctxhub.management.sqlew.values import text_of

SECONDS_TO_WAIT = 5.0

# Tables that only name things: `m_` from version 1.1 on, where all others are called `t_`.
NAMING = (
    *("agents", "files", "context_keys", "layers", "tags", "scopes", "constraint_categories"),
    *("projects", "config"),
)
OTHERS = (
    *("decisions", "decisions_numeric", "decision_history", "decision_tags", "decision_scopes"),
    *("decision_context", "constraints", "constraint_tags", "agent_messages", "file_changes"),
    *("activity_log", "decision_templates", "decision_policies", "tasks"),
)
NEEDED = ("decisions", "context_keys")
# How the tables of both kinds begin; of a file that has several generations the newest comes first.
PREFIXES = (("v4_", "v4_"), ("m_", "t_"), ("", ""))


class NotReadable(Exception):
    """No database of sqlew that can be read; the sentence says why, and what to do."""


@dataclass(frozen=True, slots=True)
class OldDatabase:
    """An open database. Tables are asked for by their names in version 1: `decisions`, `agents`.

    `tables` has what each is called here, `columns` its columns. Of a database with several projects only the
    rows of `project_id` are seen.
    """

    connection: sqlite3.Connection
    version: str
    tables: Mapping[str, str]
    columns: Mapping[str, Sequence[str]]
    project_id: int | None = None

    def has(self, table: str, column: str = "") -> bool:
        return table in self.tables and (not column or column in self.columns[table])

    def rows(self, table: str, *columns: str) -> Iterator[tuple[Any, ...]]:
        """These columns of all rows, in the order they were made; NULL for those this version lacks.

        `key|key_name`: the first of these that there is.
        """
        if not self.has(table):
            return iter(())
        asked = ", ".join(self._column(table, said) for said in columns)
        where = f"WHERE project_id = {self.project_id:d}" if self._is_divided(table) else ""
        return self.connection.execute(f'SELECT {asked} FROM "{self.tables[table]}" {where} ORDER BY rowid')  # noqa: S608

    def names(self, table: str, column: str = "name") -> dict[int, str]:
        """The names in a table by their ids."""
        return {row_id: text_of(name) or "" for row_id, name in self.rows(table, "id", column)}

    def count(self, table: str) -> int:
        return sum(1 for _ in self.rows(table, "rowid"))

    def of_project(self, project_id: int | None) -> "OldDatabase":
        return replace(self, project_id=project_id)

    def _is_divided(self, table: str) -> bool:
        return self.project_id is not None and self.has(table, "project_id")

    def _column(self, table: str, said: str) -> str:
        known = (*self.columns[table], "rowid")
        return next((f'"{name}"' for name in said.split("|") if name in known), "NULL")


@contextmanager
def old_database(path: Path) -> Iterator[OldDatabase]:
    """Open for reading; raises NotReadable. Nothing of the file changes."""
    if not path.is_file():
        raise NotReadable(f"There is no file {str(path)!r}.")
    try:
        connection = sqlite3.connect(_address(path), uri=True, timeout=SECONDS_TO_WAIT)
        connection.text_factory = text_of
        try:
            # One transaction: what the program writes meanwhile belongs to the next import.
            connection.execute("BEGIN")
            yield _recognised(connection, path)
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        raise NotReadable(_sentence(path, error)) from error


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


def _recognised(connection: sqlite3.Connection, path: Path) -> OldDatabase:
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    databases = [_with_prefixes(connection, found, *prefixes) for prefixes in PREFIXES]
    candidates = [database for database in databases if all(database.has(table) for table in NEEDED)]
    if not candidates:
        raise NotReadable(f"{path} is not a database of sqlew: it has no decisions with their keys.")
    # Version 4 kept the tables it had copied; where it has not copied them yet, they are what counts.
    return next((database for database in candidates if _is_used(database)), candidates[0])


def _with_prefixes(
    connection: sqlite3.Connection, found: Collection[str], naming: str, others: str
) -> OldDatabase:
    called = {name: f"{naming}{name}" for name in NAMING} | {name: f"{others}{name}" for name in OTHERS}
    tables = {name: actual for name, actual in called.items() if actual in found}
    columns = {name: _columns(connection, actual) for name, actual in tables.items()}
    return OldDatabase(connection, _version(naming, tables), tables, columns)


def _version(naming: str, tables: Collection[str]) -> str:
    """What is known of it: version 4 gave up agents, and 5 went back to the names before."""
    if naming != "m_":
        return "4" if naming else "1"
    return "1.1 to 3" if "agents" in tables else "5"


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", [table])]


def _is_used(database: OldDatabase) -> bool:
    return any(database.count(table) for table in ("decisions", "decisions_numeric", "constraints"))
