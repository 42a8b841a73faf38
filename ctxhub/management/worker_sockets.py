"""A listening socket for each worker of `serve`, so that each gets its share of the connections."""

import socket
import sys
from typing import Any

from ctxhub.mcp import other_workers
from ctxhub.mcp.other_workers import Starts

HAS_SHARES = sys.platform == "linux"
"""Whether the kernel spreads connections over all sockets of a port; others give them all to one."""


class WorkerSocket(socket.socket):
    """A bound socket that keeps a port; a process that it is sent to gets one of its own for the same port.

    Of workers that accept from one socket, an idle one takes whatever comes: 47 of 64 connections in a
    benchmark, and first of all those that give the others work.
    """

    starts: Starts | None = None

    @classmethod
    def bound(cls, host: str, port: int, starts: Starts | None = None) -> "WorkerSocket":
        """Raises OSError if the port is taken."""
        bound = cls(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound.bind((host, port))
        bound.starts = starts
        return bound

    def __reduce__(self) -> tuple[Any, ...]:
        host, port = self.getsockname()[:2]
        return _in_worker, (host, port, self.starts)


def _in_worker(host: str, port: int, starts: Starts | None) -> WorkerSocket:
    if starts:
        other_workers.of_this_worker.append(starts)
    return WorkerSocket.bound(host, port, starts)
