"""What waits for an agent and should not wait long: any answer may carry how much it is."""

import logging
from collections.abc import Callable

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import DATABASE_AWAY, log_failure

# Each app that brings mail registers how many urgent things wait for the caller's agent.
urgent: list[Callable[[Caller], int]] = []


def count_urgent(caller: Caller) -> int:
    """How much it is; 0 where it cannot be told: what was called for is done, and must not be lost."""
    try:
        return sum(count(caller) for count in urgent)
    except DATABASE_AWAY as error:
        log_failure("counting mail", error, level=logging.WARNING)
        return 0
