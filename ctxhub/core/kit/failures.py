"""Internal errors, for responses and the log: the database is away or unwritable, or the server failed."""

import logging
import time
from collections import deque
from typing import ClassVar

from django.db import DatabaseError, InterfaceError, OperationalError

from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.hub_connection import LeftLog
from ctxhub.core.kit.hub_files import Missing
from ctxhub.core.kit.newer_schema import NewerSchema, OlderSchema, lacking_migrations
from ctxhub.core.kit.outcomes import may_be_done
from ctxhub.core.kit.replaced_file import Removed, Replaced
from ctxhub.core.kit.restored import OtherKey
from ctxhub.core.kit.write_queue import NoLockFile, QueueTimeout

DATABASE_AWAY = (OperationalError, InterfaceError)
RETRY_SECONDS = 5
REPLACED_RETRY_SECONDS = 1
UNWRITABLE_RETRY_SECONDS = 30
UNWRITABLE_FOR_SECONDS = 60
NEWER_LOGGED_EVERY_SECONDS = 60.0
NOTHING_WRITTEN = "Nothing was written."
AWAY = "The database does not answer; perhaps soon."
MAY_BE_DONE = "What you sent may have been done, wholly or in part."
MAY_BE_DONE_HINT = (
    "Read it before you send it again. With the same request id (MCP: _meta ctxhub/request_id, REST: "
    "Idempotency-Key) a call is safe to repeat."
)
UNWRITABLE = f"The hub cannot write: its disk is full or read-only. {NOTHING_WRITTEN}"
UNWRITABLE_HINT = "Reading goes on. Ask the administrator to free space or to make the database writable."
NEWER = "A newer version of ctxhub has migrated the database: this process writes no more. It wrote nothing."
NEWER_HINT = "Restart this process, which runs the older version; ask the administrator. Reading goes on."
OLDER = "The database lacks {count} migration(s), the first is {first}: it is of an older version than this."
OLDER_HINT = "Ask the administrator to run `manage.py setup`."
REPLACED = "The database was replaced during this call: the one there now has nothing of it. Call again."
OTHER_KEY = f"The hub was restored with another secret key: restart this process. {NOTHING_WRITTEN}"
OTHER_KEY_HINT = (
    "Ask the administrator to restart it; where CTXHUB_SECRET_KEY is set, to set that of the backup."
)
MISSING = "The file of the database is not there: it was removed or moved away."
MISSING_HINT = "The hub goes on as soon as there is one again; ask the administrator."
LEFT_LOG = (
    "The database was replaced, but its -wal and -shm were left beside the new one, which they would spoil."
)
LEFT_LOG_HINT = "Ask the administrator to move both to the replaced file, as docs/team-server.md describes."
# How SQLite says that it cannot write, and the SQLSTATEs of PostgreSQL: disk_full, read_only_sql_transaction.
SQLITE_UNWRITABLE = ("database or disk is full", "readonly database", "disk i/o error")
POSTGRES_UNWRITABLE = ("53100", "25006")

logger = logging.getLogger(__name__)


class Failure(CtxhubError):
    """An error that the caller did not cause. Detail `retry_after` (seconds) if a retry may help."""

    code: ClassVar[str] = "internal"


def failure_of(error: Exception, what: str = "The hub failed") -> Failure:
    """The error for the response, without internal details. It says whether anything was written."""
    failure = _failure_of(error, what)
    if may_be_done(error) and not isinstance(error, Replaced):
        message = f"{failure.message.removesuffix(NOTHING_WRITTEN)}{MAY_BE_DONE}"
        return Failure(message, hint=MAY_BE_DONE_HINT, **failure.details)
    return failure


def _failure_of(error: Exception, what: str) -> Failure:
    if isinstance(error, QueueTimeout):
        return Failure(f"No turn to write: {error}. {NOTHING_WRITTEN}", retry_after=RETRY_SECONDS)
    if isinstance(error, NewerSchema):
        return Failure(NEWER, hint=NEWER_HINT, retry_after=UNWRITABLE_RETRY_SECONDS)
    if failure := _other_database(error):
        return failure
    if is_unwritable(error):
        return Failure(UNWRITABLE, hint=UNWRITABLE_HINT, retry_after=UNWRITABLE_RETRY_SECONDS)
    if isinstance(error, DATABASE_AWAY):
        return Failure(f"{AWAY} {NOTHING_WRITTEN}", retry_after=RETRY_SECONDS)
    return Failure(f"{what}; its log says why. {NOTHING_WRITTEN}")


def _other_database(error: Exception) -> Failure | None:
    """What is wrong if another database lies at the path, or none."""
    if isinstance(error, Replaced):
        return Failure(REPLACED, retry_after=REPLACED_RETRY_SECONDS)
    if isinstance(error, OtherKey):
        return Failure(OTHER_KEY, hint=OTHER_KEY_HINT, retry_after=UNWRITABLE_RETRY_SECONDS)
    if is_older(error):
        lacking = lacking_migrations()
        return Failure(OLDER.format(count=len(lacking), first=lacking[0]), hint=OLDER_HINT)
    if isinstance(error, Removed) or isinstance(error.__cause__, Missing):
        return Failure(f"{MISSING} {NOTHING_WRITTEN}", hint=MISSING_HINT, retry_after=RETRY_SECONDS)
    if isinstance(error.__cause__, LeftLog):
        return Failure(
            f"{LEFT_LOG} {NOTHING_WRITTEN}", hint=LEFT_LOG_HINT, retry_after=UNWRITABLE_RETRY_SECONDS
        )
    return None


def log_failure(what: str, error: Exception, *, level: int = logging.ERROR) -> None:
    """Log an error: one line if the database is away or unwritable, or had no turn; else a traceback."""
    reason = " ".join(str(error).split())
    if isinstance(error, QueueTimeout):
        logger.log(level, "%s failed: no turn to write: %s", what, reason)
    elif isinstance(error, NewerSchema):
        _log_other_schema(level, what, f"restart this process, {reason}")
    elif isinstance(error, OlderSchema):
        _log_other_schema(level, what, f"run `manage.py setup`, {reason}")
    elif isinstance(error, OtherKey):
        _log_other_schema(level, what, f"restart this process, {reason}")
    elif is_unwritable(error):
        note_unwritable()
        logger.log(level, "%s failed: the database cannot be written (%s)", what, reason)
    elif isinstance(error, DATABASE_AWAY):
        logger.log(level, "%s failed: the database does not answer (%s)", what, reason)
    else:
        logger.log(level, "%s failed", what, exc_info=error)


def _log_other_schema(level: int, what: str, reason: str) -> None:
    """Once a minute: every write fails, and those of the background are tried every second."""
    now = time.monotonic()
    if not _newer_at or now - _newer_at[-1] >= NEWER_LOGGED_EVERY_SECONDS:
        _newer_at.append(now)
        logger.log(level, "%s failed: %s", what, reason)


def is_unwritable(error: BaseException) -> bool:
    """Whether the database refused a write because its disk is full or read-only."""
    if isinstance(error, NoLockFile):
        return True
    if not isinstance(error, DatabaseError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state in POSTGRES_UNWRITABLE or any(words in str(error).lower() for words in SQLITE_UNWRITABLE)


def is_older(error: BaseException) -> bool:
    """Whether the database lacks migrations, and failed for that reason, as far as can be told."""
    return isinstance(error, DatabaseError) and bool(lacking_migrations())


def is_outage(error: BaseException) -> bool:
    """Whether the database is unreachable, unwritable or lacks migrations: a later call may succeed."""
    return isinstance(error, DATABASE_AWAY) or is_unwritable(error) or is_older(error)


def note_unwritable() -> None:
    _unwritable_at.append(time.monotonic())


def was_unwritable() -> bool:
    """Whether a write of this process was refused for that reason within the last minute."""
    return bool(_unwritable_at) and time.monotonic() - _unwritable_at[-1] < UNWRITABLE_FOR_SECONDS


_unwritable_at: deque[float] = deque(maxlen=1)
_newer_at: deque[float] = deque(maxlen=1)
