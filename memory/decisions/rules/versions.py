"""The versions of decisions."""

import re

from memory.decisions.inputs.decisions import VERSION_LENGTH

FIRST_VERSION = "1.0.0"

_LAST_NUMBER = re.compile(r"(\d+)(\D*)$", re.ASCII)


def bump(version: str) -> str:
    """The version after this one: its last number plus one; one without a number gets `.1`."""
    number = _LAST_NUMBER.search(version)
    head = version[: number.start()] if number else version
    tail = f"{int(number[1]) + 1}{number[2]}" if number else ".1"
    # Where the length is used up the head gives way: a cut number would come again.
    return f"{head[: max(VERSION_LENGTH - len(tail), 0)]}{tail}"[:VERSION_LENGTH]
