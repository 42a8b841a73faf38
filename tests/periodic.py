"""Prevents what is done once in a while: it is no part of the action that a test counts or compares."""

from ctxhub.core.accounts.selectors.names_of_people import refuse_name_of_person
from ctxhub.core.accounts.selectors.speakers import named_by
from ctxhub.core.accounts.services import agents
from ctxhub.core.events.services import cleanup as retention
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from memory.snapshots import reads


def prevent_periodic_work(caller: Caller) -> None:
    """As if the agent was just seen, the cleanup just ran, and the names of people were just read."""
    refuse_name_of_person(caller)
    agents._touched[caller.project_id, caller.agent.casefold(), named_by(caller)] = float("inf")
    retention._cleaned[caller.project_id] = (clock.now(), retention.EVERY)
    reads._noted_at.clear()
