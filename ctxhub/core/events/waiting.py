"""Long polling. A call does not block: it declares which events it waits for, and is run again later.

The event loop that runs calls gives each a `LongPoll`. A call that finds nothing new stores in it the events
to wait for, and returns its response as usual. The loop holds that response back, without a thread or a
database connection, until such an event is recorded or the time is up. Without a `LongPoll`, as under WSGI,
the response is sent at once.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ctxhub.core.events.log import NewEvent, is_new_to
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_from_to
from ctxhub.core.registry import wakes

LONGEST_SECONDS = 60

T = TypeVar("T")
_NOT_RUN = object()


@frozen
class Wanted:
    """The events that a call waits for: later than `after`, an event id for each project.

    With an `agent`, only those of the `nouns` (empty: any) that are new to it: its own events are not, nor
    are those addressed to others (`data["to"]`), or of nouns that wake nobody.
    """

    after: Mapping[int, int]
    agent: str | None
    nouns: frozenset[str]
    seconds: float

    def is_news(self, project_id: int, event: NewEvent) -> bool:
        if event.id <= self.after[project_id]:
            return False
        return self.agent is None or self._is_news_to(self.agent, event)

    def _is_news_to(self, agent: str, event: NewEvent) -> bool:
        if not wakes(event.noun) or (self.nouns and event.noun not in self.nouns):
            return False
        return is_new_to(agent, event)

    def having_seen(self, project_id: int, event_id: int) -> "Wanted":
        """The same after this event of the project."""
        seen = max(self.after[project_id], event_id)
        return replace(self, after={**self.after, project_id: seen})


@dataclass(slots=True)
class LongPoll:
    """The state of one waiting call: where it began, and the events it waits for."""

    began: Any = _NOT_RUN
    wanted: Wanted | None = None
    is_again: bool = False

    @contextmanager
    def at_work(self) -> Iterator[None]:
        token = _long_poll.set(self)
        try:
            yield
        finally:
            _long_poll.reset(token)


_long_poll: ContextVar[LongPoll | None] = ContextVar("ctxhub_long_poll", default=None)


def is_again() -> bool:
    """Whether this call is a repeated run, whose earlier response was not sent."""
    long_poll = _long_poll.get()
    return long_poll is not None and long_poll.is_again


def clean_seconds(seconds: int) -> int:
    return clean_from_to(seconds, "wait_seconds", 0, LONGEST_SECONDS)


def at_first_run(read: Callable[[], T]) -> T:
    """What `read` returns at the first run of the call, in its repeated runs, too.

    A call begins at one place: read again, "2h" would be later, and what lies between would be lost.
    """
    long_poll = _long_poll.get()
    if long_poll is None:
        return read()
    if long_poll.began is _NOT_RUN:
        long_poll.began = read()
    began: T = long_poll.began
    return began


def wait_for_news(caller: Caller, seconds: float, *, after: int, nouns: frozenset[str] = frozenset()) -> None:
    """Hold back the response of this call for up to `seconds`, until there is a new event.

    Read `after` before the query for the response: events recorded in between then count as new.
    """
    if (long_poll := _long_poll.get()) is not None and seconds:
        long_poll.wanted = Wanted({caller.project_id: after}, caller.agent.casefold(), nouns, seconds)


def wait_for_events(after: Mapping[int, int], seconds: float) -> None:
    """The same until there is any event in one of the projects; `after`: the newest known, by project id."""
    if (long_poll := _long_poll.get()) is not None and seconds and after:
        long_poll.wanted = Wanted(after, None, frozenset(), seconds)
