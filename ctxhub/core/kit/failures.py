"""What should not happen, told to callers and the log: the database does not answer, or the hub failed."""

import logging
from typing import ClassVar

from django.db import InterfaceError, OperationalError

from ctxhub.core.kit.errors import CtxhubError

DATABASE_AWAY = (OperationalError, InterfaceError)
RETRY_SECONDS = 5

logger = logging.getLogger(__name__)


class Failure(CtxhubError):
    """The caller did nothing wrong. `retry_after` (seconds) where asking again may help."""

    code: ClassVar[str] = "internal"


def failure_of(error: Exception, what: str = "The hub failed") -> Failure:
    """What to tell whoever asked; nothing of the inside."""
    if isinstance(error, DATABASE_AWAY):
        return Failure("The database does not answer; perhaps soon.", retry_after=RETRY_SECONDS)
    return Failure(f"{what}; its log says why. Nothing was written.")


def log_failure(what: str, error: Exception, *, level: int = logging.ERROR) -> None:
    """One line for a database that is away, since every call tells the same; anything else with its trace."""
    if isinstance(error, DATABASE_AWAY):
        reason = " ".join(str(error).split())
        logger.log(level, "%s failed: the database does not answer (%s)", what, reason)
    else:
        logger.log(level, "%s failed", what, exc_info=error)
