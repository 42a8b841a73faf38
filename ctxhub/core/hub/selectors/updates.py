"""Long polling for updates."""

from typing import Any

from ctxhub.core.events import waiting
from ctxhub.core.events.log import count_updates, id_of, latest_cursor, read_new_events
from ctxhub.core.events.waiting import Wanted
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import EventCursor
from ctxhub.core.kit.inputs import clean_moment


def wait_for_updates(caller: Caller, *, since: str | None = None, wait_seconds: int = 30) -> dict[str, Any]:
    """Like `updates`, but waits until something is new to the caller since `since`, or since the call began.

    Events addressed to others are not new to the caller, nor are messages sent before. `since` is read once,
    when the call begins.
    """
    seconds = waiting.clean_seconds(wait_seconds)
    after = waiting.at_first_run(lambda: _event_before(caller.project_id, since))
    wanted = Wanted({caller.project_id: after}, caller.agent.casefold(), frozenset(), seconds)
    events = read_new_events(caller.project_id, after)
    if not any(wanted.is_news(caller.project_id, event) for event in events):
        waiting.wait_for_news(caller, seconds, after=events[-1].id if events else after)
    return count_updates(caller, since=str(EventCursor(after)))


def _event_before(project_id: int, since: str | None) -> int:
    """The id of the last event before `since`, or of the newest one."""
    start = clean_moment(since, "since")
    return latest_cursor(project_id).event_id if start is None else id_of(project_id, start)
