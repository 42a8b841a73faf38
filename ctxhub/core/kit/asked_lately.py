"""Spares a call the question whether PostgreSQL is still there, if its connection was asked a moment ago.

Django asks before the first statement of each request: a round trip, a twentieth of a call. A server that
went away has closed the connection, which the operating system knows without asking.
"""

import select
import threading
from time import monotonic
from typing import Any

from django.core.signals import request_started
from django.db import DEFAULT_DB_ALIAS, connections
from django.dispatch import receiver

SECONDS_TRUSTED = 5.0


class _Thread(threading.local):
    asked: Any = None
    at = 0.0


_thread = _Thread()


@receiver(request_started, dispatch_uid="trust_if_asked_lately")
def trust_if_asked_lately(**_: object) -> None:
    """Before a call, after Django's own look at old connections."""
    database: Any = connections[DEFAULT_DB_ALIAS]
    if not database.health_check_enabled or database.connection is None:
        return
    now = monotonic()
    if _thread.asked is database.connection and now - _thread.at < SECONDS_TRUSTED:
        database.health_check_done = _is_silent(database.connection.fileno())
    else:  # Django asks.
        _thread.asked, _thread.at = database.connection, now


def _is_silent(socket: int) -> bool:
    """Whether nothing has arrived, as the end of the connection would have."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return not poll.poll(0)
