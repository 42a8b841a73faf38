"""The connection to SQLite: it knows which file it has open, and harms no other one that takes its place."""

import atexit
import ctypes
import os
import sqlite3
from pathlib import Path
from typing import Any
from weakref import WeakSet

from ctxhub.core.kit.hub_files import NotAHub
from ctxhub.core.kit.read_only import ReadingConnection
from ctxhub.core.kit.replaced_file import FileId, connected, file_at, has_left_log

TRIES = 3


class LeftLog(NotAHub):
    """The log of a database that was replaced lies beside the new one, which it would spoil."""


class HubConnection(ReadingConnection):
    """A connection to the file at a path, as long as it is there."""

    path: str = ""
    file: FileId | None = None

    def __init__(self, database: str, *args: Any, **options: Any) -> None:
        if has_left_log(database):
            name = Path(database).name
            raise LeftLog(
                f"{name} was replaced, but {name}-wal and {name}-shm still are those of the old one"
            )
        path = os.path.abspath(database)
        for _ in range(TRIES):  # Another file may take its place just now.
            before = file_at(path)
            super().__init__(database, *args, **options)
            if before == file_at(path):
                break
        self.path, self.file = path, before
        if before is not None:
            connected(database, before)
        _open.add(self)

    def is_current(self) -> bool:
        """Whether the file at the path is the one that is open."""
        return self.file == file_at(self.path)

    def close(self) -> None:
        if self.is_current():
            super().close()
        else:
            _keep_open(self)


def _keep_open(connection: sqlite3.Connection) -> None:
    """Let nothing close it, not even the end of the process.

    The last connection to a database removes -wal and -shm by their names, which here may be those of the
    new file. Others would not see what its processes write from then on.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


@atexit.register
def _keep_replaced() -> None:
    for connection in [*_open]:
        if not connection.is_current():
            _keep_open(connection)


_open: "WeakSet[HubConnection]" = WeakSet()
