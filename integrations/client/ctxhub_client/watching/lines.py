"""Writes at most one line in a while: the first thing at once, what comes soon after in one line."""

from __future__ import annotations

import os
import time

from ctxhub_client.process import log
from ctxhub_client.watching.ending import STDOUT, Over
from ctxhub_client.watching.things import Several, text_of_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

    from ctxhub_client.watching.things import Thing

BETWEEN_SECONDS = 5.0
NEVER = 3_600.0


class Lines:
    """`told` is called with what has been written."""

    def __init__(self, as_json: bool, told: Callable[[list[Thing]], None] = lambda _: None) -> None:
        self._as_json = as_json
        self._told = told
        self._waiting: list[Thing] = []
        self._has_waited = False
        self._free_at = time.monotonic()

    def add(self, things: list[Thing]) -> None:
        self._waiting += things

    def write_due(self) -> float:
        """Write what may be written now. Returns in how many seconds more may be. Raises Over."""
        if not self._waiting:
            return NEVER
        left = self._free_at - time.monotonic()
        if left <= 0:
            self._write(self._next())
            left = BETWEEN_SECONDS
            self._free_at = time.monotonic() + left
        self._has_waited = bool(self._waiting)
        return left if self._waiting else NEVER

    def _next(self) -> list[Thing]:
        """What the next line tells: all that came while none was due, but the program's own words alone."""
        own = [each for each in self._waiting if each.kind == "hub"][:1]
        others = [each for each in self._waiting if each.kind != "hub"]
        found = own or (others if self._has_waited else others[:1])
        self._waiting = [each for each in self._waiting if each not in found]
        return found

    def _write(self, things: list[Thing]) -> None:
        line = Several(things) if len(things) > 1 else things[0]
        write(text_of_line(line, self._as_json))
        self._told(things)


def write(data: bytes) -> None:
    try:
        while data:
            data = data[os.write(STDOUT, data) :]
    except OSError as error:
        log("stdout:", error)
        raise Over from None
