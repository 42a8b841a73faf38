"""The secret key of a restore on PostgreSQL, between the commit there and the file here.

The key waits in a file of its own, with the id of the restore, before the restore commits. Whoever reads the
key meanwhile, or after a restore that was killed, asks the database which of both keys belongs to it.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ctxhub.core.kit.private_files import write_private
from ctxhub.core.kit.replacement import put_key

try:
    import fcntl
except ImportError:  # Windows has no such locks.
    fcntl = None  # type: ignore[assignment]

_LAST_RESTORE = "SELECT details->>'restore' FROM core_hubrecord WHERE kind = 'restore'"


class WaitingKey:
    """The key that takes the place of `key_file` once the restore of that id is committed."""

    def __init__(self, key_file: Path, key: str, restore: str) -> None:
        self._key_file, self._restore = key_file, restore
        write_private(_waiting(key_file), json.dumps({"key": key, "restore": restore}).encode())
        self._lock = _locked(_waiting(key_file), wait=True)

    def settle(self, *, is_committed: bool) -> None:
        """Put it in place, or away."""
        if is_committed:
            _put(self._key_file)
        _waiting(self._key_file).unlink(missing_ok=True)
        if self._lock is not None:
            os.close(self._lock)


def settle_key(key_file: Path) -> None:
    """Put the key in place that waits, if its restore was committed. Asks the database only if one waits.

    Raises OperationalError if that does not answer.
    """
    waiting = _waiting(key_file)
    if not waiting.exists():
        return
    with suppress(OSError, ValueError, KeyError):
        restore = json.loads(waiting.read_bytes())["restore"]
        is_committed = restore == _last_restore()
        # A restore that has committed is about to do the same; one at work is left alone.
        lock = _locked(waiting, wait=is_committed)
        if lock is None:
            return
        try:
            if _is_at(waiting, lock):
                if is_committed:
                    _put(key_file)
                waiting.unlink(missing_ok=True)
        finally:
            os.close(lock)


def _put(key_file: Path) -> None:
    found = json.loads(_waiting(key_file).read_bytes())
    put_key(key_file, found["key"], aside=key_file.with_name(f"{key_file.name}.replaced-{found['restore']}"))


def _waiting(key_file: Path) -> Path:
    return key_file.with_name(f"{key_file.name}.waiting")


def _last_restore() -> str:
    import psycopg
    from django.db import connection

    parameters: dict[str, Any] = connection.get_connection_params()
    with connection.wrap_database_errors, psycopg.connect(**parameters) as server:
        try:
            found = server.execute(_LAST_RESTORE).fetchone()
        except psycopg.errors.UndefinedTable:
            return ""
    return str(found[0]) if found else ""


def _locked(file: Path, *, wait: bool) -> int | None:
    """A descriptor with the lock on the file; None if another process has it."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _is_at(file: Path, descriptor: int) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.stat(file), os.fstat(descriptor))
    return False
