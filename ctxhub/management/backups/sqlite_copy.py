"""A whole copy of the hub's SQLite file, made while others write, and what is in such a copy."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from django.db import connection

from ctxhub.core.kit.hub_files import APPLICATION_ID
from ctxhub.management.backups.facts import Facts, gather
from ctxhub.management.backups.manifest import BadBackup

TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
FAULTS_SHOWN = 3


def copy_database(target: Path) -> None:
    """Write a copy of the database as it is at one moment. It only reads: writers do not wait for it."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(target)])


def facts_of(copy: Path) -> Facts:
    """Of a file that nobody writes. Raises sqlite3.Error."""
    with _opened(copy) as file:
        return gather(lambda statement: file.execute(statement).fetchall(), TABLES)


def check_copy(copy: Path) -> None:
    """Raises BadBackup if the file is no sound database of a hub."""
    try:
        with _opened(copy) as file:
            if file.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
                raise BadBackup("its database is no hub's")
            faults = [str(row[0]) for row in file.execute("PRAGMA integrity_check(3)") if row[0] != "ok"]
            for table, row, parent, _ in file.execute("PRAGMA foreign_key_check").fetchmany(FAULTS_SHOWN):
                faults.append(f"row {row} of {table} refers to a row of {parent} that is not there")
    except sqlite3.Error as error:
        raise BadBackup(f"its database cannot be read ({error})") from error
    if faults:
        raise BadBackup(f"its database is damaged: {'; '.join(faults[:FAULTS_SHOWN])}")


@contextmanager
def _opened(copy: Path) -> Iterator[sqlite3.Connection]:
    uri = f"file:{quote(str(copy))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as file:
        yield file
