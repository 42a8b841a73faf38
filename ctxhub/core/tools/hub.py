"""The tool `hub`: what is going on, who is here, what words are in use."""

from typing import Any

from ctxhub.core.caller import Caller
from ctxhub.core.inputs import MAX_LIMIT
from ctxhub.core.listing import Listing
from ctxhub.core.selectors import events, hub
from ctxhub.core.toolbox.arguments import Number, Words
from ctxhub.core.toolbox.registry import action, tool

tool(
    "hub",
    "The hub at a glance: what is new, who is here, which words are in use.",
    otherwise=[(set(), "stats")],
)


@action("hub", "stats", also_known_as=("get_stats", "db_stats"))
def stats(caller: Caller) -> dict[str, Any]:
    """Figures for every kind of thing; decisions as [active, all]."""
    return hub.count_all(caller.project_id)


@action(
    "hub",
    "activity",
    example={"since": "1h", "agents": ["ada"], "verbs": ["created", "updated"]},
    also_known_as=("activity_log",),
)
def activity(
    caller: Caller,
    since: str | None = None,
    agents: Words | None = None,
    verbs: Words | None = None,
    limit: Number = 20,
    cursor: str | None = None,
) -> Listing:
    """What happened, newest first.

    `verbs` are created, updated, deprecated, deleted (also set, deprecate, delete). `since` is a time, a time
    ago ("30m", "7d") or an event cursor ("e1234").
    """
    return events.list_activity(
        caller.project_id, since=since, agents=agents, verbs=verbs, limit=limit, cursor=cursor
    )


@action("hub", "updates", example={"since": "e120"}, also_known_as=("has_updates",))
def updates(caller: Caller, since: str | None = None) -> dict[str, Any]:
    """How many things others changed since, and the cursor for the next call.

    Your own changes are not counted. Costs a few tokens: poll with it, and read `activity` when a figure is
    there.
    """
    return events.count_updates(caller, since=since)


@action("hub", "agents", example={"limit": 20})
def agents(caller: Caller, limit: Number = MAX_LIMIT, cursor: str | None = None) -> Listing:
    """Who works here, last seen first."""
    return hub.list_agents(caller.project_id, limit=limit, cursor=cursor)


@action("hub", "vocabulary")
def vocabulary(caller: Caller) -> dict[str, Any]:
    """The layers, categories, tags and scopes, each with how often it is used; reuse them before you invent one."""
    return hub.count_vocabulary(caller.project_id)
