"""Prevents what is done once in a while: it is no part of the action that a test counts or compares."""

from ctxhub.core.accounts.selectors import names_of_people
from ctxhub.core.accounts.services import agents
from ctxhub.core.events.services import cleanup as retention
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from memory.snapshots.services import accesses

_FOR_EVER = float("inf")


def prevent_periodic_work(caller: Caller) -> None:
    """As if the agent was just seen, the cleanup just ran, and the names of people were just read."""
    names = names_of_people.find_names_of_people(caller.project_id)
    names_of_people._names[caller.project_id] = (_FOR_EVER, names)
    agents._touched[caller.project_id, caller.agent] = _FOR_EVER
    retention._cleaned[caller.project_id] = (clock.now(), retention.EVERY)
    accesses._noted.clear()
