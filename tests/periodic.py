"""Prevents what is done once in a while: it is no part of the action that a test counts or compares."""

from ctxhub.core.accounts import agents
from ctxhub.core.accounts.names_of_people import refuse_name_of_person
from ctxhub.core.accounts.speakers import named_by
from ctxhub.core.events import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from memory.snapshots import reads


def prevent_periodic_work(caller: Caller) -> None:
    """As if the agent was just seen, the cleanup just ran, and the names of people were just read."""
    refuse_name_of_person(caller)
    agents._touched[caller.project_id, caller.agent.casefold(), named_by(caller)] = float("inf")
    cleanup._cleaned[caller.project_id] = (clock.now(), cleanup.EVERY)
    reads._noted_at.clear()
