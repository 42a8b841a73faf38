"""The SQLite file: made only by setup and migrate, readable only by its owner."""

import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from ctxhub.core.kit.hub_files import APPLICATION_ID, Empty, Missing, NotAHub, open_hub

try:
    import fcntl
except ImportError:  # Windows has no such locks.
    fcntl = None  # type: ignore[assignment]

OWNERS_ALONE = 0o600
OTHERS = 0o007
BESIDE = ("-wal", "-shm", ".lock")
SECONDS_TO_FILL = 2.0  # An older version makes an empty file, and its tables a moment later.
SECONDS_TO_FILL_LOCKED = 60.0


class ConnectionToExisting(sqlite3.Connection):
    """A connection that fails if the file is missing, where SQLite would create one, or is no hub's."""

    def __init__(self, database: str, *args: Any, **options: Any) -> None:
        open_hub(Path(database))
        super().__init__(database, *args, **options)


# -- Making one ------------------------------------------------------------------------------------


def make_file(path: Path, *, fills_empty: bool = False) -> None:
    """Make a hub's file without tables if there is none; SQLite gives its -wal and -shm files the same mode.

    Raises NotAHub: also for an empty file that nobody is filling, unless it `fills_empty` ones.
    """
    try:
        open_hub(path)
    except Missing:
        _make(path)
    except Empty:
        if fills_empty:
            _fill(path)
    wait_until_filled(path)


def _make(path: Path) -> None:
    """Written completely before it gets its name: of several setups, one makes the file."""
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            os.chmod(draft, OWNERS_ALONE)  # Independent of the umask.
            file.write(_image())
        _put(draft, path)
    finally:
        os.unlink(draft)


def _put(draft: str, path: Path) -> None:
    with suppress(FileExistsError):
        try:
            os.link(draft, path)
        except FileExistsError:
            raise
        except OSError:  # A file system without hard links.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNERS_ALONE))
            os.chmod(path, OWNERS_ALONE)
            _fill(path)


def _fill(path: Path) -> None:
    with path.open("r+b") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_size == 0:
            path.chmod(OWNERS_ALONE)
            file.write(_image())


def _image() -> bytes:
    """The content of a database without tables that is marked as a hub's."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        return database.serialize()


def wait_until_filled(path: Path) -> None:
    """Wait while another setup makes a hub of an empty file: for a minute, if it has locked it.

    Raises NotAHub: Empty if the file stays so.
    """
    started, was_empty = time.monotonic(), False
    while True:
        try:
            open_hub(path)
            return
        except NotAHub as error:
            was_empty |= isinstance(error, Empty)
            seconds = SECONDS_TO_FILL_LOCKED if _is_locked(path) else SECONDS_TO_FILL
            if not was_empty or time.monotonic() - started > seconds:
                raise
        time.sleep(0.05)


def _is_locked(path: Path) -> bool:
    if fcntl is None:
        return False
    with suppress(OSError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


# -- One setup at a time ---------------------------------------------------------------------------


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Whether this process, and no other, may set the hub up. It is the file's own lock, not SQLite's."""
    file = open_hub(path)
    if fcntl is None:
        yield True
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
        return
    try:
        yield True
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


# -- Modes -----------------------------------------------------------------------------------------


def close_to_others(path: Path) -> None:
    """Set mode 600 on a hub's files: older versions of ctxhub made them readable by everybody."""
    open_hub(path)
    for file in (path, *(path.with_name(path.name + end) for end in BESIDE)):
        with suppress(FileNotFoundError):
            mode = (os.stat(file) if file == path else os.lstat(file)).st_mode
            if stat.S_ISREG(mode) and mode & OTHERS:
                file.chmod(OWNERS_ALONE)


def open_private(path: Path, flags: int) -> int:
    """Open a file and return its descriptor. A new file gets mode 600, whatever the umask."""
    try:
        made = os.open(path, flags | os.O_CREAT | os.O_EXCL, OWNERS_ALONE)
    except FileExistsError:
        return os.open(path, flags)
    os.chmod(path, OWNERS_ALONE)
    return made
