"""Says who reads: `agent` is who speaks, and is easily taken for a filter of authors."""

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import shown
from ctxhub.toolbox.actions import Action

# The filter of authors, whose values are no fixed words.
FILTER = "by"


def hint_of_reader(connection: Caller, speaker: Caller, action: Action) -> str:
    """The hint for a list that is read as another agent than the connection names; "" for others.

    Where the connection has no name of its own, each call names its agent.
    """
    is_own = connection.agent.casefold() == speaker.agent.casefold()
    if action.writes or is_own or not connection.has_own_name:
        return ""
    filters = any(a.name == FILTER and not a.has_fixed_words for a in action.arguments.all)
    filtered = f"; to filter by author: {FILTER}" if filters else ""
    return f"You read as {shown(speaker.agent)}; you speak as {shown(connection.agent)}{filtered}."
