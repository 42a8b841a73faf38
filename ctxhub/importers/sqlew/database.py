"""Finds the tables of a sqlew database of any version."""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ctxhub.core.kit.frozen import frozen
from ctxhub.importers.shared.files import NotReadable, OldTables, column_names, open_readonly, table_names
from ctxhub.importers.shared.values import text_of

# Tables of names: prefixed `m_` from version 1.1 on, where all other tables have `t_`.
NAMING = (
    *("agents", "files", "context_keys", "layers", "tags", "scopes", "constraint_categories"),
    *("projects", "config"),
)
OTHERS = (
    *("decisions", "decisions_numeric", "decision_history", "decision_tags", "decision_scopes"),
    *("decision_context", "constraints", "constraint_tags", "agent_messages", "file_changes"),
    *("activity_log", "decision_templates", "decision_policies", "tasks"),
)
REQUIRED = ("decisions", "context_keys")
# Prefixes of both kinds of tables, newest first: a file may hold tables of several versions.
PREFIXES = (("v4_", "v4_"), ("m_", "t_"), ("", ""))


@frozen
class OldDatabase(OldTables):
    """A sqlew database. Tables are addressed by their version 1 names: `decisions`, `agents`.

    With `project_id`, only rows of that project are read.
    """

    version: str
    project_id: int | None = None

    def names(self, table: str, column: str = "name") -> dict[int, str]:
        """Names in a table by id."""
        return {row_id: text_of(name) or "" for row_id, name in self.rows(table, "id", column)}

    def count(self, table: str) -> int:
        return sum(1 for _ in self.rows(table, "rowid"))

    def of_project(self, project_id: int | None) -> "OldDatabase":
        return replace(self, project_id=project_id)

    def _where(self, table: str) -> str:
        is_divided = self.project_id is not None and self.has(table, "project_id")
        return f"WHERE project_id = {self.project_id:d}" if is_divided else ""


@contextmanager
def open_database(path: Path) -> Iterator[OldDatabase]:
    """Open a sqlew database read only. Raises NotReadable."""
    with open_readonly(path) as connection:
        yield _detect(connection, path)


def _detect(connection: sqlite3.Connection, path: Path) -> OldDatabase:
    found = table_names(connection)
    databases = [_with_prefixes(connection, found, *prefixes) for prefixes in PREFIXES]
    candidates = [database for database in databases if all(database.has(table) for table in REQUIRED)]
    if not candidates:
        raise NotReadable(f"{path} is not a database of sqlew: it has no decisions with their keys.")
    # Version 4 kept the tables it copied; if it has not copied them yet, the old ones are current.
    return next((database for database in candidates if _is_used(database)), candidates[0])


def _with_prefixes(
    connection: sqlite3.Connection, found: Collection[str], naming: str, others: str
) -> OldDatabase:
    prefixed = {name: f"{naming}{name}" for name in NAMING} | {name: f"{others}{name}" for name in OTHERS}
    tables = {name: actual for name, actual in prefixed.items() if actual in found}
    columns = {name: column_names(connection, actual) for name, actual in tables.items()}
    return OldDatabase(connection, tables, columns, _version(naming, tables))


def _version(naming: str, tables: Collection[str]) -> str:
    """The version range by prefix: version 4 dropped agents, 5 returned to the earlier prefixes."""
    if naming != "m_":
        return "4" if naming else "1"
    return "1.1 to 3" if "agents" in tables else "5"


def _is_used(database: OldDatabase) -> bool:
    return any(database.count(table) for table in ("decisions", "decisions_numeric", "constraints"))
