"""Internal errors, for responses and the log: the database is unreachable, or the server failed."""

import logging
from typing import ClassVar

from django.db import InterfaceError, OperationalError

from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.write_queue import QueueTimeout

DATABASE_AWAY = (OperationalError, InterfaceError)
RETRY_SECONDS = 5

logger = logging.getLogger(__name__)


class Failure(CtxhubError):
    """An error that the caller did not cause. Detail `retry_after` (seconds) if a retry may help."""

    code: ClassVar[str] = "internal"


def failure_of(error: Exception, what: str = "The hub failed") -> Failure:
    """The error for the response, without internal details."""
    if isinstance(error, QueueTimeout):
        return Failure(f"No turn to write: {error}. Nothing was written.", retry_after=RETRY_SECONDS)
    if isinstance(error, DATABASE_AWAY):
        return Failure("The database does not answer; perhaps soon.", retry_after=RETRY_SECONDS)
    return Failure(f"{what}; its log says why. Nothing was written.")


def log_failure(what: str, error: Exception, *, level: int = logging.ERROR) -> None:
    """Log an error: one line if the database is unreachable, since every call logs it; else a traceback."""
    if isinstance(error, QueueTimeout):
        logger.log(level, "%s failed: no turn to write: %s", what, error)
    elif isinstance(error, DATABASE_AWAY):
        reason = " ".join(str(error).split())
        logger.log(level, "%s failed: the database does not answer (%s)", what, reason)
    else:
        logger.log(level, "%s failed", what, exc_info=error)
