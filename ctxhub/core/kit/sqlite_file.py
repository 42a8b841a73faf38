"""The SQLite file: created only by setup and migrate, and readable only by its owner."""

import os
import sqlite3
from pathlib import Path
from typing import Any

OWNERS_ALONE = 0o600
OTHERS = 0o007
BESIDE = ("", "-wal", "-shm", ".lock")


class ConnectionToExisting(sqlite3.Connection):
    """A connection that fails if the file is missing: SQLite would create one for a mistyped path."""

    def __init__(self, database: str, *args: Any, **options: Any) -> None:
        if not os.path.exists(database):
            raise sqlite3.OperationalError(f"there is no file {database}")
        super().__init__(database, *args, **options)


def make_file(path: Path) -> None:
    """Create an empty database if there is none; SQLite gives its -wal and -shm files the same mode."""
    if not path.exists():
        os.close(open_private(path, os.O_RDWR))


def open_private(path: Path, flags: int) -> int:
    """Open a file and return its descriptor. A new file gets mode 600, whatever the umask."""
    try:
        made = os.open(path, flags | os.O_CREAT | os.O_EXCL, OWNERS_ALONE)
    except FileExistsError:
        return os.open(path, flags)
    os.chmod(path, OWNERS_ALONE)
    return made


def close_to_others(path: Path) -> None:
    """Set mode 600 on the database files: older versions of ctxhub made them readable by everybody."""
    for file in (path.with_name(path.name + end) for end in BESIDE):
        if file.exists() and file.stat().st_mode & OTHERS:
            file.chmod(OWNERS_ALONE)
