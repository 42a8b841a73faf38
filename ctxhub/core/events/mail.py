"""Counts the urgent messages that wait for an agent; any response may include the number."""

import logging
from collections.abc import Callable

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import DATABASE_AWAY, log_failure

# Functions that count what is urgent and owed by the caller's agent; apps register theirs.
urgent: list[Callable[[Caller], int]] = []


def count_urgent(caller: Caller) -> int:
    """How many urgent messages wait; 0 if the database fails, since the call itself has succeeded."""
    try:
        return sum(count(caller) for count in urgent)
    except DATABASE_AWAY as error:
        log_failure("counting mail", error, level=logging.WARNING)
        return 0
