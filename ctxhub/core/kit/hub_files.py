"""Tells a hub's SQLite file from any other, without changing anything of it or beside it."""

import os
import sqlite3
import stat
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ctxhub.core.kit.replacement import finish

APPLICATION_ID = 0x63747868  # "ctxh", in the header of every hub that setup or migrate made.
APPS = frozenset({"core", "memory"})
"""A database with applied migrations of both is a hub's."""

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_APPS_IN_FILE = "SELECT DISTINCT app FROM django_migrations"
# How SQLite's list of tables stores the name of one of a hub's, which an unfinished log alone may hold.
_TABLE_IN_LOG = b"tablecore_accesstokencore_accesstoken"
_LOG_BYTES_READ = 64 * 1024 * 1024
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # Opening a pipe would wait for who writes to it.


class NotAHub(sqlite3.OperationalError):
    """There is no hub's file at the path; the message says what there is."""


class Missing(NotAHub):
    """There is nothing at the path."""


class Empty(NotAHub):
    """There is a file without content, which may be meant to become a hub."""


def open_hub(path: Path) -> int:
    """A descriptor of the hub's file, for reading and for locks. Raises NotAHub.

    It stays open until the process ends: if any is closed, the process loses the locks that SQLite holds on
    the file. So a file is looked at once, and before SQLite opens it.
    """
    with _lock:
        found = _stat(path)
        key = (found.st_dev, found.st_ino)
        if key not in _opened:
            _opened[key] = _open_known(path)
        return _opened[key]


def _stat(path: Path) -> os.stat_result:
    """As it is once a replacement that was interrupted is done. Raises NotAHub."""
    try:
        if not path.exists():
            finish(path)
        return os.stat(path)
    except OSError as error:
        raise _no_file(path, error) from error


def _open_known(path: Path) -> int:
    file = _open(path)
    try:
        _refuse_irregular(os.fstat(file).st_mode, path)
        _refuse_foreign(os.read(file, _HEADER_BYTES), path)
    except BaseException:
        os.close(file)
        raise
    return file


def _open(path: Path) -> int:
    try:
        _refuse_irregular(os.stat(path).st_mode, path)
        return os.open(path, os.O_RDONLY | _NO_WAIT)
    except OSError as error:
        raise _no_file(path, error) from error


def _no_file(path: Path, error: OSError) -> NotAHub:
    if not isinstance(error, FileNotFoundError):
        return NotAHub(f"{path} cannot be opened: {error.strerror}")
    if path.is_symlink():
        return NotAHub(f"{path} is a link to {os.readlink(path)}, which is not there")
    return Missing(f"there is no file {path}")


def _refuse_irregular(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise NotAHub(f"{path} is a folder")
    if not stat.S_ISREG(mode):
        raise NotAHub(f"{path} is no file, but a device, a pipe or a socket")


def _refuse_foreign(header: bytes, path: Path) -> None:
    if not header:
        raise Empty(f"{path} is an empty file")
    if not header.startswith(_MAGIC):
        raise NotAHub(f"{path} is no SQLite database")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID and not _is_older_hub(path):
        raise NotAHub(f"{path} is no hub's, but a database of another program")


def _is_older_hub(path: Path) -> bool:
    """Whether it has the tables of a hub: older versions did not mark their files."""
    with suppress(sqlite3.Error):
        if {app for (app,) in _read(path, _APPS_IN_FILE)} >= APPS:
            return True
    return _has_table_in_log(path)


def _read(path: Path, statement: str) -> list[tuple[Any, ...]]:
    """Rows of the file without its log: `immutable` neither locks it nor makes files beside it."""
    uri = f"file:{quote(os.path.realpath(path))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as database:
        return database.execute(statement).fetchall()


def _has_table_in_log(path: Path) -> bool:
    """Whether the log of a hub that was killed holds its tables."""
    log = Path(f"{os.path.realpath(path)}-wal")
    with suppress(OSError):
        if stat.S_ISREG(os.stat(log).st_mode):
            with log.open("rb") as file:
                return _TABLE_IN_LOG in file.read(_LOG_BYTES_READ)
    return False


_opened: dict[tuple[int, int], int] = {}
_lock = threading.Lock()
