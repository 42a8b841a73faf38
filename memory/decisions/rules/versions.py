"""Computes the next version of a decision."""

import re

from memory.decisions.inputs.decisions import VERSION_LENGTH

FIRST_VERSION = "1.0.0"

_LAST_NUMBER = re.compile(r"(\d+)(\D*)$", re.ASCII)


def bump(version: str) -> str:
    """Increment the last number of a version; append `.1` to a version without a number."""
    number = _LAST_NUMBER.search(version)
    head = version[: number.start()] if number else version
    tail = f"{int(number[1]) + 1}{number[2]}" if number else ".1"
    # At the maximum length the head is truncated: a truncated number would repeat a version.
    return f"{head[: max(VERSION_LENGTH - len(tail), 0)]}{tail}"[:VERSION_LENGTH]
