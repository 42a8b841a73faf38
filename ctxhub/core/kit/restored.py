"""Notices that another database was restored under this process: what it remembers is of the one before.

On SQLite the file is another one (`replaced_file.py`). On PostgreSQL a restore ends all connections before it
commits, so each thread looks with its next one, before anything else is asked on it. The call for which it
connects was sent to the database before, under ids of that one: it is told to come again.

A restore may also have put another secret key in place. A process that still has the one before would know no
token and sign what nobody else reads: it does nothing until it is started anew.
"""

import logging
import threading
from typing import Any

from django.conf import settings
from django.db import Error, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.utils.crypto import salted_hmac

from ctxhub.core.kit.replaced_file import Replaced, forget_all, when_replaced

Restore = tuple[str, str]
"""The id of the last restore and the mark of the secret key that belongs to it; "" if there was none."""

NEVER: Restore = ("", "")
_SQLITE = """SELECT json_extract(details, '$.restore'), json_extract(details, '$.key')
    FROM core_hubrecord WHERE kind = 'restore'"""
_POSTGRESQL = "SELECT details->>'restore', details->>'key' FROM core_hubrecord WHERE kind = 'restore'"

logger = logging.getLogger(__name__)


class OtherKey(OperationalError):
    """This process does nothing: a restore has put another secret key in place."""


Where = tuple[str, ...]
"""A database: host, port and name."""


class _Known:
    """The restore of each database that this process has seen last."""

    def __init__(self) -> None:
        self.by_database: dict[Where, Restore] = {}
        self.has_other_key = False
        self.is_to_look = False


class _Thread(threading.local):
    """The restore that the connection of this thread has found."""

    def __init__(self) -> None:
        self.by_database: dict[Where, Restore] = {}


_known, _thread = _Known(), _Thread()


def key_mark(key: str) -> str:
    """Tells one secret key from another, and nothing of either."""
    return salted_hmac("ctxhub.restore", key, secret=key, algorithm="sha256").hexdigest()


def refuse_other_key() -> None:
    """Raise OtherKey for any call, if a restore has put another key in place. Costs no query in between."""
    if _known.is_to_look:
        look()
    if _known.has_other_key:
        raise OtherKey("the hub was restored with another secret key")


def has_other_key() -> bool:
    """Whether it was so when it was last looked at."""
    return _known.has_other_key


def look() -> None:
    """Look for a restore. Raises only Replaced, if the connection for it is this thread's first after one."""
    try:
        connection.ensure_connection()
        _note(connection)
    except Replaced:
        raise
    except Error:  # What follows tells what is wrong.
        logger.debug("The last restore cannot be read.", exc_info=True)


@when_replaced.append
def look_soon() -> None:
    """Look before the next call."""
    _known.is_to_look = True


@receiver(connection_created, dispatch_uid="note_restore")
def note_restore(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Look with a new connection, before what asked for it. Raises Replaced if this thread had one before."""
    if connection.vendor != "postgresql":
        return
    where = _where(connection)
    try:
        now, is_news = _note(connection)
        is_news |= _thread.by_database.get(where, now) != now
        _thread.by_database[where] = now
        if is_news:
            raise Replaced("the database was restored during the call")
    except Error:
        connection.close()
        raise


def expect_restore() -> None:
    """What this thread finds from now on is no news to it: it has restored it."""
    where = _where(connection)
    _known.by_database.pop(where, None)
    _thread.by_database.pop(where, None)


def _where(database: BaseDatabaseWrapper) -> Where:
    return tuple(str(database.settings_dict[name]) for name in ("HOST", "PORT", "NAME"))


def _note(database: BaseDatabaseWrapper) -> tuple[Restore, bool]:
    """The restore now, and whether the process has seen another one before."""
    now, where = _read(database), _where(database)
    before = _known.by_database.get(where, now)
    _known.by_database[where] = now
    if before != now:
        if database.vendor == "postgresql":
            forget_all()
        _look_at_key(now)
    _known.is_to_look = False
    return now, before != now


def _look_at_key(restore: Restore) -> None:
    keys = (str(settings.SECRET_KEY), *settings.SECRET_KEY_FALLBACKS)
    _known.has_other_key = restore[1] not in ("", *map(key_mark, keys))
    if _known.has_other_key:
        logger.error("Restart this process: the hub was restored with another secret key.")


def _read(database: BaseDatabaseWrapper) -> Restore:
    """In the driver's own words: Django's would open a transaction, and tests count them."""
    statement = _POSTGRESQL if database.vendor == "postgresql" else _SQLITE
    try:
        with database.wrap_database_errors:
            found = database.connection.execute(statement).fetchone()
    except Error as error:
        if _is_missing(error.__cause__):
            return NEVER
        raise
    return (found[0] or "", found[1] or "") if found else NEVER


def _is_missing(error: BaseException | None) -> bool:
    """Whether the table is not there, as in a database that no setup has migrated yet."""
    return getattr(error, "sqlstate", "") == "42P01" or "no such table" in str(error)
