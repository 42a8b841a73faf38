"""Databases of earlier states: where they are, how one is loaded, and all that a database holds."""

import lzma
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import psycopg
from django.db import connection

from ctxhub.management.backups.tables import of_hub
from tests.core.command_line import Installation, installation
from tests.upgrades.make import file_of

TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
    "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
}

Row = Mapping[str, Any]
Contents = Mapping[str, Sequence[Row]]
"""The rows of each table, by its name."""


@contextmanager
def loaded(name: str) -> Iterator[Installation]:
    """An installed hub with the database of this state, on the engine that the tests run on."""
    text = lzma.decompress(file_of(name, connection.vendor).read_bytes()).decode()
    with installation() as at:
        if connection.vendor == "postgresql":
            with psycopg.connect(at.environment["DATABASE_URL"]) as server:
                server.execute(text.encode())
        else:
            file = at.folder / "hub.sqlite3"
            with closing(sqlite3.connect(file)) as made:
                made.executescript(text)
            os.chmod(file, 0o600)
        yield at


def contents_of(at: Installation) -> Contents:
    """All rows of a hub, in any order; without the tables that SQLite keeps behind its full-text index."""
    if connection.vendor == "postgresql":
        with psycopg.connect(at.environment["DATABASE_URL"]) as server:
            return _contents(server)
    with closing(sqlite3.connect(at.folder / "hub.sqlite3")) as file:
        return _contents(file)


def _contents(database: Any) -> Contents:
    names = of_hub(name for (name,) in database.execute(TABLES[connection.vendor]).fetchall())
    found = {}
    for name in names:
        rows = database.execute(f'SELECT * FROM "{name}"')
        columns = [column[0] for column in rows.description]
        found[name] = [dict(zip(columns, row, strict=True)) for row in rows.fetchall()]
    return found
