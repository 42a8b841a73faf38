"""Limits of time that hold while coverage counts lines, too."""

import sys

TRACED = 5


def seconds(limit: float) -> float:
    """The limit, or five times as long under a tracing function."""
    return limit * TRACED if sys.gettrace() else limit
