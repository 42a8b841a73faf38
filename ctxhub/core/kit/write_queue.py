"""The queue of writers on SQLite: a lock shared by threads and processes of one machine."""

import errno
import os
import re
import stat
import threading
import time
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path

from django.db import OperationalError, connection

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.hub_files import NotAHub
from ctxhub.core.kit.served import LOCK_WAIT, step
from ctxhub.core.kit.sqlite_file import open_private

try:
    import fcntl
except ImportError:  # Windows: threads queue, processes rely on SQLite's busy timeout.
    fcntl = None  # type: ignore[assignment]

MOST_SECONDS = 20.0
LONGEST_RECORD = 100
NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # The name may be that of a pipe.
UNWRITABLE_FILES = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_RECORD = re.compile(rb"[0-9. ]{0,%d}" % LONGEST_RECORD, re.ASCII)

waited_before: ContextVar[float] = ContextVar("waited_before", default=0.0)
"""The seconds that the call has waited for a write slot: part of its 20 s."""


class QueueTimeout(OperationalError):
    """The turn did not come in 20 s."""


class NoLockFile(OperationalError):
    """The lock file is missing, and cannot be made on a full or read-only disk."""


@frozen
class Turn:
    """Which process has the turn, and for how many seconds."""

    process: int
    seconds: float


class WriteQueue:
    """The writers of one machine, in the order in which they came. The kernel ends the turn of one that dies.

    A process that is stopped keeps its turn: after 20 s the others raise QueueTimeout. The lock file says who
    has the turn and since when.
    """

    def __init__(self) -> None:
        self.most_seconds = MOST_SECONDS
        self._thread_lock = threading.Lock()
        self._files: dict[str, int] = {}
        self._held: int | None = None
        self._waiter: _Waiter | None = None

    @property
    def seconds_left(self) -> float:
        """How long this call may still wait for its turn."""
        return max(0.001, self.most_seconds - waited_before.get())

    def __enter__(self) -> None:
        with step(LOCK_WAIT):
            has_turn = self.take(self.seconds_left)
        if not has_turn:
            raise QueueTimeout(describe(self.turn()))

    def __exit__(self, *_: object) -> None:
        self.leave()

    def take(self, timeout_seconds: float) -> bool:
        """Try to get the turn for that many seconds; if True, the caller must `leave`."""
        until = time.monotonic() + timeout_seconds
        if not self._thread_lock.acquire(timeout=timeout_seconds):
            return False
        try:
            self._held = self._lock_file(until)
        except BaseException:
            self._thread_lock.release()
            raise
        if self._held is None:
            self._thread_lock.release()
            return False
        return True

    def leave(self) -> None:
        held, self._held = self._held, None
        try:
            if held is not None:
                self._unlock(held)
        finally:
            self._thread_lock.release()

    def turn(self) -> Turn | None:
        """Who has the turn now; None if nobody has, or it cannot be told."""
        if fcntl is None:
            return None
        if not _lock_file().exists():
            return None
        with open(_lock_file(), "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return _read_turn(file.read(LONGEST_RECORD))
        return None

    def _unlock(self, file: int) -> None:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_UN)
        if file not in self._files.values():
            os.close(file)

    def _lock_file(self, until: float) -> int | None:
        """The descriptor of the locked file; None if another process has it until then."""
        file = self._file()
        if fcntl is None:
            return file
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if (waited := self._wait(until)) is None:
                return None
            file = waited
        with suppress(OSError):  # The disk may be full, and the record only informs.
            # Of constant length, so that a reader never sees half of a longer one.
            os.pwrite(file, f"{os.getpid():<20}{time.time():<30.3f}".encode(), 0)
        return file

    def _wait(self, until: float) -> int | None:
        """Wait as the kernel does, in order: polling let one of 16 writers wait for 1.5 s."""
        if until <= time.monotonic():
            return None
        if self._waiter is None or not self._waiter.is_wanted_again():
            self._waiter = _Waiter(_lock_file())
        if (file := self._waiter.wait(until - time.monotonic())) is not None:
            self._waiter = None
        return file

    def _file(self) -> int:
        name = str(_lock_file())
        if name not in self._files:
            # Stays open until the process ends.
            self._files[name] = open_lock_file(Path(name))
        return self._files[name]


class _Waiter:
    """Waits for the file lock in a thread, as the kernel's wait has no end of its own."""

    def __init__(self, path: Path) -> None:
        self._changed = threading.Condition()
        self._file: int | None = None
        self._is_waiting = self._is_wanted = True
        file = open_lock_file(path)
        threading.Thread(target=self._run, args=[file], name="ctxhub-write-queue", daemon=True).start()

    def wait(self, seconds: float) -> int | None:
        """The descriptor of the locked file; None if it is not locked in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._file is not None, timeout=seconds)
            self._is_wanted = False
            return self._file

    def is_wanted_again(self) -> bool:
        """Let the thread go on for another caller; False if it waits no more."""
        with self._changed:
            self._is_wanted = True
            return self._is_waiting

    def _run(self, file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)
        with self._changed:
            self._is_waiting = False
            if self._is_wanted:
                self._file = file
                self._changed.notify_all()
            else:
                os.close(file)


def open_lock_file(path: Path) -> int:
    """Open the file of the queue, or make it. Refuses one that holds anything but the record of a turn."""
    file = _open(path)
    if stat.S_ISREG(os.fstat(file).st_mode) and _RECORD.fullmatch(os.read(file, LONGEST_RECORD + 1)):
        return file
    os.close(file)
    reason = f"{path} is a file of another program, to which the writers of this hub would write"
    raise OperationalError(reason) from NotAHub(reason)


def refuse_foreign_lock_file(database: Path) -> None:
    """Raise OperationalError if the name of the queue's file beside the database is another program's."""
    path = _lock_file_of(database)
    if not os.path.lexists(path):
        return
    try:
        os.close(open_lock_file(path))
    except OSError as error:
        raise OperationalError(f"{path} cannot be opened: {error.strerror}") from error


def describe(turn: Turn | None) -> str:
    if turn is None:
        return f"other writers were busy for {MOST_SECONDS:.0f} s"
    return f"process {turn.process} has been writing for {turn.seconds:.0f} s, or is stopped"


def _read_turn(record: bytes) -> Turn | None:
    words = record.decode(errors="replace").split()
    try:
        return Turn(int(words[0]), max(0.0, time.time() - float(words[1])))
    except (ValueError, IndexError):
        return None


def _open(path: Path) -> int:
    """A descriptor of the lock file, which can be locked even where it cannot be written."""
    try:
        return open_private(path, os.O_RDWR | NO_WAIT)
    except OSError as error:
        if error.errno not in UNWRITABLE_FILES:
            raise
        try:
            return os.open(path, os.O_RDONLY | NO_WAIT)
        except OSError:
            raise NoLockFile(str(error)) from error


def _lock_file() -> Path:
    return _lock_file_of(connection.settings_dict["NAME"])


def _lock_file_of(database: Path | str) -> Path:
    return Path(f"{database}.lock")


QUEUE = WriteQueue()
