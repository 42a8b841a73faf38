"""SQLite's file: made by setup and migrate alone, and its owner's alone."""

import os
import sqlite3
from pathlib import Path
from typing import Any

OWNERS_ALONE = 0o600
OTHERS = 0o007
BESIDE = ("", "-wal", "-shm", ".lock")


class ConnectionToExisting(sqlite3.Connection):
    """By itself SQLite makes a file where there is none: a mistyped path would open an empty hub."""

    def __init__(self, database: str, *args: Any, **options: Any) -> None:
        if not os.path.exists(database):
            raise sqlite3.OperationalError(f"there is no file {database}")
        super().__init__(database, *args, **options)


def make_file(path: Path) -> None:
    """Make an empty database where there is none; SQLite gives what it puts beside it the same mode."""
    if not path.exists():
        os.close(open_private(path, os.O_RDWR))


def open_private(path: Path, flags: int) -> int:
    """A descriptor of the file. If it has to be made, its owner alone may read it, whatever the umask."""
    try:
        made = os.open(path, flags | os.O_CREAT | os.O_EXCL, OWNERS_ALONE)
    except FileExistsError:
        return os.open(path, flags)
    os.chmod(path, OWNERS_ALONE)
    return made


def close_to_others(path: Path) -> None:
    """Files that an older ctxhub made were everybody's to read."""
    for file in (path.with_name(path.name + end) for end in BESIDE):
        if file.exists() and file.stat().st_mode & OTHERS:
            file.chmod(OWNERS_ALONE)
