"""Notices that the SQLite file under a running process was replaced or removed.

What counts is the device and the inode of the file at the path: one that was away and comes back is the same.
"""

import os
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

from django.conf import settings
from django.core.signals import request_started
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.dispatch import receiver

SECONDS_BETWEEN_LOOKS = 1.0

FileId = tuple[int, int]
"""Device and inode."""

when_replaced: list[Callable[[], None]] = []
"""Functions that forget what this process remembers of a database. They run in any thread, and ask none."""


class Replaced(OperationalError):
    """The file was replaced while a call wrote: the database there now has nothing of the call."""


class Removed(OperationalError):
    """The file was removed or moved away while a call wrote."""


@dataclass(slots=True)
class _Seen:
    """The file that is open at a path, and the log that was last seen beside which file.

    The log is held open: meanwhile no other file gets its inode.
    """

    file: FileId
    log: tuple[FileId, FileId] | None = None
    log_descriptor: int | None = None


class _State:
    def __init__(self) -> None:
        self.by_path: dict[str, _Seen] = {}
        self.switches = 0
        self.lock = threading.Lock()


_state = _State()


def file_at(path: str) -> FileId | None:
    """None where no file is. Takes a microsecond."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


# -- Calls and writes ------------------------------------------------------------------------------


@receiver(request_started, dispatch_uid="leave_replaced_if_due")
def leave_replaced_if_due(**_: object) -> None:
    """Before a call: as `leave_replaced`, once a second and after another thread has noticed it.

    A write looks by itself.
    """
    now = monotonic()
    if now >= _thread.look_at or _thread.switches != _state.switches:
        _thread.look_at = now + SECONDS_BETWEEN_LOOKS
        leave_replaced()
        _thread.switches = _state.switches


def leave_replaced() -> None:
    """Let this thread's connection go if its file is no longer the one at the path.

    The next query connects to the file that is there, or says that there is none.
    """
    configured = settings.DATABASES[DEFAULT_DB_ALIAS]
    if not configured["ENGINE"].endswith("sqlite3"):
        return
    path = str(configured["NAME"])
    seen = _state.by_path.get(path)
    if seen is None:  # Nothing was opened yet.
        return
    now = file_at(path)
    if now is not None and seen.file != now:
        _switch(seen, now)
    database = connections[DEFAULT_DB_ALIAS]
    if getattr(database.connection, "file", now) != now and not database.in_atomic_block:
        database.close()


def refuse_replaced() -> None:
    """After a commit: raise Replaced or Removed if it was into a file that nobody opens any more."""
    database = connections[DEFAULT_DB_ALIAS]
    open_file = getattr(database.connection, "file", None)
    if open_file is None or open_file == (now := file_at(database.settings_dict["NAME"])):
        return
    _thread.look_at = 0.0
    if now is None:
        raise Removed("the file was removed or moved away during the call")
    raise Replaced("the file was replaced during the call")


class _Thread(threading.local):
    look_at = 0.0
    switches = 0


_thread = _Thread()


def switches() -> int:
    """How often this process went on with another database: a caller found before is not of this one."""
    return _state.switches


# -- Connections -----------------------------------------------------------------------------------


def has_left_log(path: str) -> bool:
    """Whether another file lies at the path, and beside it still the log of the one before.

    SQLite would apply that log to it. Only a process that had the file before open can tell.
    """
    seen = _state.by_path.get(path)
    if seen is None or seen.log is None:
        return False
    file, log = seen.log
    return file_at(path) not in (None, file) and file_at(_log_of(path)) == log


def connected(path: str, file: FileId) -> None:
    """Note to which file at the path a connection was made."""
    with _state.lock:
        seen = _state.by_path.setdefault(path, _Seen(file))
        _hold_log(path, seen, file)
    _switch(seen, file)


def _switch(seen: _Seen, file: FileId) -> None:
    with _state.lock:
        if seen.file == file:
            return
        seen.file = file
    forget_all()


def forget_all() -> None:
    """Let the process forget what it remembers: it goes on with another database."""
    with _state.lock:
        _state.switches += 1
    for forget in when_replaced:
        forget()


def _hold_log(path: str, seen: _Seen, file: FileId) -> None:
    log = file_at(_log_of(path))
    if log is None or seen.log == (file, log):
        return
    with suppress(OSError):  # Another process may just remove it.
        descriptor = os.open(_log_of(path), os.O_RDONLY)
        if seen.log_descriptor is not None:
            os.close(seen.log_descriptor)
        seen.log, seen.log_descriptor = (file, log), descriptor


def _log_of(path: str) -> str:
    """SQLite keeps it beside the file itself, whatever link leads there."""
    return f"{os.path.realpath(path)}-wal"
