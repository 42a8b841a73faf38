"""The order of tools in lists and in errors."""

from collections.abc import Collection

# The order of every list of tools: clients cache lists, and models attend to the first ones most.
ORDER = (
    "brief",
    "search",
    "get",
    "check",
    "decision",
    "constraint",
    "message",
    "file",
    "scratchpad",
    "memory",
    "snapshot",
    "session",
    "hub",
    "delete",
)


def in_order(names: Collection[str]) -> list[str]:
    """Tools in the order of `ORDER`, those that it does not name behind them."""
    return sorted(names, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
