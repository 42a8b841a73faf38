"""When nobody is there any more for whom to go on: the client, its shell, whoever reads the lines."""

from __future__ import annotations

import os
import select
import signal
import time

from ctxhub_client.windows.joining import client_of
from ctxhub_client.windows.processes import finder, is_alive

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Callable

# How often it is looked whether the client is still there.
CHECK_SECONDS = 5.0
STDOUT = 1


class Over(Exception):
    """Nobody is there to be told."""


def end_at_signals() -> None:
    """At once and quietly; a signal that the shell has it ignore stays ignored."""
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: os._exit(0))


class Meanwhile:
    """Waits, while `work` is done now and then: it returns in how many seconds it is to be called again.

    Raises Over when the client or the shell that runs this has ended, or the reader of stdout has.
    """

    def __init__(self, work: Callable[[], float]) -> None:
        self._work = work
        self._parent = os.getppid()
        client = client_of(finder())
        self._client = (client.id, client.started) if client else None
        self._checked = time.monotonic()

    def pause(self, seconds: float) -> None:
        self.until_readable(None, seconds)

    def until_readable(self, sock: socket.socket | None, seconds: float) -> bool:
        """Whether there is something to read within this time."""
        until = time.monotonic() + seconds
        while True:
            self._check()
            soon = self._work()
            left = until - time.monotonic()
            if is_readable(sock, max(0.0, min(left, soon, CHECK_SECONDS))):
                return True
            if left <= 0:
                return False

    def _check(self) -> None:
        """A shell outlives its client, and waits for this process: its end alone tells nothing."""
        if os.getppid() != self._parent:
            raise Over
        if self._client and time.monotonic() - self._checked >= CHECK_SECONDS:
            self._checked = time.monotonic()
            if not is_alive(*self._client):
                raise Over


def is_readable(sock: socket.socket | None, seconds: float) -> bool:
    """Raises Over when nobody reads stdout, where the system tells that before something is written."""
    if not hasattr(select, "poll"):
        if sock is None:
            time.sleep(seconds)
            return False
        return bool(select.select([sock], [], [], seconds)[0])
    poll = select.poll()
    poll.register(STDOUT, 0)
    if sock is not None:
        poll.register(sock, select.POLLIN)
    found = dict(poll.poll(seconds * 1_000))
    if found.get(STDOUT, 0) & (select.POLLERR | select.POLLHUP):
        raise Over
    if STDOUT in found and len(found) == 1:
        # Something that cannot be polled answers at once.
        time.sleep(min(seconds, 0.2))
        return False
    return bool(found)
