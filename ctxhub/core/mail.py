"""What waits for an agent and should not wait long: any answer may carry how much it is."""

from collections.abc import Callable

from ctxhub.core.caller import Caller

# Each app that brings mail registers how many urgent things wait for the caller's agent.
urgent: list[Callable[[Caller], int]] = []


def count_urgent(caller: Caller) -> int:
    return sum(count(caller) for count in urgent)
