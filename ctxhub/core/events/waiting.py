"""Calls that wait for news. No call waits by itself: it says what it is waiting for, and is made again.

Whoever runs calls (an event loop) gives each a `Patience`; a call that finds nothing notes in it what would
be news and answers as if it did not wait. The loop then holds that answer back, without a thread or a
connection, until an event comes or the time is up. Where nobody has patience, as under WSGI, the answer goes
out at once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ctxhub.core.events.selectors.events import NewEvent, latest_cursor
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.inputs import clean_from_to

LONGEST_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Wanted:
    """An event of the project behind `after`, of one of the nouns (none: of any), that is news to the agent.

    What the agent did itself is none, and neither is what is addressed to others (`data["to"]`).
    """

    project_id: int
    agent: str
    after: int
    nouns: frozenset[str]
    seconds: float

    def is_news(self, event: NewEvent) -> bool:
        if event.id <= self.after or event.agent == self.agent or event.noun == "hub":
            return False
        if self.nouns and event.noun not in self.nouns:
            return False
        to = event.data.get("to")
        return to is None or self.agent in {str(name).casefold() for name in to}


@dataclass(slots=True)
class LongPoll:
    """What one call has found out while it waits: where it began, and what it wants now."""

    began: int | None = None
    wanted: Wanted | None = None
    is_again: bool = False

    @contextmanager
    def at_work(self) -> Iterator[None]:
        token = _long_poll.set(self)
        try:
            yield
        finally:
            _long_poll.reset(token)


_long_poll: ContextVar[LongPoll | None] = ContextVar("ctxhub_patience", default=None)


def is_again() -> bool:
    """Whether this is a call made before, whose answer nobody has seen."""
    long_poll = _long_poll.get()
    return long_poll is not None and long_poll.is_again


def clean_seconds(seconds: int) -> int:
    return clean_from_to(seconds, "wait_seconds", 0, LONGEST_SECONDS)


def began_at(project_id: int) -> int:
    """The newest event as the call was first made: whatever comes after it is news."""
    long_poll = _long_poll.get()
    if long_poll is None:
        return latest_cursor(project_id).event_id
    if long_poll.began is None:
        long_poll.began = latest_cursor(project_id).event_id
    return long_poll.began


def wait_for_news(caller: Caller, seconds: float, *, after: int, nouns: frozenset[str] = frozenset()) -> None:
    """Say that the answer to come is one to wait with, for up to so many seconds, until there is news.

    `after` was read before the answer was looked for: what came in between is news already.
    """
    if (long_poll := _long_poll.get()) is not None and seconds:
        long_poll.wanted = Wanted(caller.project_id, caller.agent.casefold(), after, nouns, seconds)
