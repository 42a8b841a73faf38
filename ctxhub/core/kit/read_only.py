"""Connections to a database that cannot be written at the moment: reading goes on, and nothing outlasts it.

SQLite and PostgreSQL decide as a connection is made whether it may write. One that may not ends with its
request, so that the first request after the disk or the server is writable again writes.
"""

import os
import sqlite3
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from ctxhub.core.kit.sqlite_file import ConnectionToExisting

# What SQLite says if it cannot make the files beside a database: no folder to write in, no room for them.
CANNOT_MAKE_FILES = ("unable to open", "disk i/o error", "disk is full", "readonly database")


class ReadingConnection(ConnectionToExisting):
    """A connection to SQLite that also reads where nothing can be written, not even the files beside it.

    Then it reads the file as one that nobody changes, which is true while no -wal file holds later writes.
    """

    def __init__(self, database: str, *args: Any, **options: Any) -> None:
        super().__init__(database, *args, **options)
        self.is_read_only = not (os.access(database, os.W_OK) and os.access(Path(database).parent, os.W_OK))
        try:
            self.execute("SELECT 1 FROM sqlite_master LIMIT 1")
        except sqlite3.OperationalError as error:
            cannot_make = any(words in str(error).lower() for words in CANNOT_MAKE_FILES)
            if not cannot_make or _holds_later_writes(database):
                raise
            options["uri"] = True
            sqlite3.Connection.__init__(self, f"file:{quote(database)}?immutable=1", *args, **options)
            self.is_read_only = True  # Afterwards: __init__ forgets what the object held.


@receiver(connection_created, dispatch_uid="end_with_request")
def end_with_request(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Let a connection that may not write end with its request."""
    if _is_read_only(connection):
        connection.close_at = time.monotonic()


def _is_read_only(connection: BaseDatabaseWrapper) -> bool:
    if connection.vendor != "postgresql":
        return bool(getattr(connection.connection, "is_read_only", False))
    # The server reports it by itself, since version 14.
    status = connection.connection.pgconn.parameter_status(b"default_transaction_read_only")
    return bool(status == b"on")


def _holds_later_writes(database: str) -> bool:
    beside = (Path(f"{database}{end}") for end in ("-wal", "-journal"))
    return any(file.exists() and file.stat().st_size for file in beside)
