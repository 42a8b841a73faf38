"""Registers agents on their first call, and updates their last-seen time."""

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from django.db import Error

from ctxhub.core.accounts.selectors.agents import find_agent_id
from ctxhub.core.accounts.selectors.speakers import named_by
from ctxhub.core.accounts.services.heard_sessions import note_session
from ctxhub.core.kit import clock
from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import NotAllowed
from ctxhub.core.kit.failures import log_failure
from ctxhub.core.kit.replaced_file import when_replaced
from ctxhub.core.kit.transactions import try_touch_transaction, try_write_lock, write_transaction
from ctxhub.core.vocabulary.services.names import register_agent

SEEN_EVERY_SECONDS = 60.0


def touch_agent(caller: Caller) -> None:
    """Update when the caller's agent and its session were last heard of, at most once a minute and process.

    Waits for nobody: while others write it is done in the background. On stdio the caller's project then has
    the settings that are stored.
    """
    agent = (caller.project_id, caller.agent.casefold(), named_by(caller))
    now = time.monotonic()
    with _lock:
        if now - _touched.get(agent, -SEEN_EVERY_SECONDS) < SEEN_EVERY_SECONDS:
            return
        if len(_touched) > 10_000:
            _touched.clear()
        _touched[agent] = now
    if caller.window is not None:
        # A process on stdio lives for days with one project: it hears of changed settings here.
        caller.project.refresh_from_db(fields=["config"])
    if not register_without_waiting(caller):
        LATER.put(caller)


def register_without_waiting(caller: Caller) -> bool:
    """Whether the agent was registered; False if it would have to wait for a writer."""
    try:
        with try_touch_transaction() as may_write:
            # A new agent becomes a recipient of messages to everyone, so it is inserted under the write lock.
            # A known one has a row that a writer may have locked.
            if may_write := may_write and try_write_lock(caller.project_id):
                _note(caller)
            return may_write
    except NotAllowed:  # A person has just got the name; the next call is told.
        return True
    except Error as error:  # The agent's call itself succeeded, and must not be reported as failed.
        log_failure(f"noting agent {caller.agent!r}", error, level=logging.WARNING)
        return True


def _register_all(callers: Sequence[Caller]) -> None:
    distinct = {(caller.project_id, caller.agent.casefold(), named_by(caller)): caller for caller in callers}
    for caller in distinct.values():
        with suppress(NotAllowed), write_transaction(caller.project_id):
            _note(caller)


def _note(caller: Caller) -> None:
    at = clock.now()
    register_agent(caller, at)
    note_session(caller, at)


def is_registered(caller: Caller) -> bool:
    """Whether the caller's agent has a row."""
    return find_agent_id(caller.project_id, caller.agent) is not None


# When this process last updated each agent: only a throttle, never a source of ids.
_touched: dict[tuple[int, str, str], float] = {}
_lock = threading.Lock()
when_replaced.append(_touched.clear)
LATER = BackgroundWriter("noting which agents were seen", _register_all)
