"""Agents register themselves: whoever does something is known from then on."""

import logging
import threading
import time

from django.db import Error

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import log_failure
from ctxhub.core.kit.transactions import noting, try_write_lock
from ctxhub.core.models import Agent
from ctxhub.core.vocabulary.services.names import register_agent

SEEN_EVERY_SECONDS = 60.0


def touch_agent(caller: Caller) -> None:
    """Note that the caller's agent was here; at most once a minute for each agent in each process."""
    agent = (caller.project_id, caller.agent.casefold())
    now = time.monotonic()
    with _lock:
        if now - _touched.get(agent, -SEEN_EVERY_SECONDS) < SEEN_EVERY_SECONDS:
            return
        if len(_touched) > 10_000:
            _touched.clear()
        _touched[agent] = now
    try:
        with noting() as may_write:
            # A new agent is told what was said to everyone, and so must not come between those who say it:
            # while somebody writes, its next call makes it known.
            if may_write and (find_agent(*agent) or try_write_lock(caller.project_id)):
                register_agent(caller, clock.now())
            else:
                _touched.pop(agent, None)
    except Error as error:  # What the agent came for is done, and must not be reported as failed.
        log_failure(f"noting agent {caller.agent!r}", error, level=logging.WARNING)


def find_agent(project_id: int, name: str) -> Agent | None:
    return Agent.objects.in_project(project_id).filter(folded=name.casefold()).first()


# When each agent was last noted; a throttle, never a source of ids.
_touched: dict[tuple[int, str], float] = {}
_lock = threading.Lock()
