"""The new events of projects that streams follow: read once for all of them, kept until all have them."""

import asyncio
import threading
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Protocol

from ctxhub.core.accounts.listeners import Listener, still_listening
from ctxhub.core.events.following import Told
from ctxhub.core.events.log import NewEvent
from ctxhub.mcp.wakeups import watch

# Events that a stream may be behind the newest one.
MOST_BEHIND = 10_000
SECONDS_BETWEEN_CHECKS = 2.0


class Reader(Protocol):
    """A stream. `seen`: the ids up to which it has the events, by project id.

    `is_live`: it has had all earlier events, and follows the new ones. All of it runs in the event loop.
    """

    seen: dict[int, int]
    is_live: bool

    @property
    def listener(self) -> Listener: ...

    def wake(self) -> None: ...

    def end(self) -> None: ...


class Feed:
    """The events of one project with ids greater than `start`, up to `last`. Belongs to the event loop."""

    def __init__(self, newest: int) -> None:
        self.start = self.last = newest
        self.readers: set[Reader] = set()
        self._told: list[Told] = []
        self._ids: list[int] = []

    def after(self, seen: int) -> Sequence[Told]:
        """The events after this id, which is `start` or greater."""
        return self._told[bisect_right(self._ids, seen) :] if seen < self.last else ()

    def add(self, known: int, told: Sequence[Told]) -> bool:
        """Take the events after the id `known`. Returns False if none of them is new, or some before are
        missing.
        """
        if known > self.last or not told or told[-1].event.id <= self.last:
            return False
        new = [each for each in told if each.event.id > self.last]
        self._told += new
        self._ids += [each.event.id for each in new]
        self.last = self._ids[-1]
        return True

    def forget(self, project_id: int) -> list[Reader]:
        """Forget what all have had, and what is too old; returns the readers that fell behind by that."""
        had = min((each.seen[project_id] for each in self.readers), default=self.last)
        count = max(bisect_right(self._ids, had), len(self._ids) - MOST_BEHIND)
        if count <= 0:
            return []
        self.start = self._ids[count - 1]
        del self._ids[:count], self._told[:count]
        return [each for each in self.readers if each.is_live and each.seen[project_id] < self.start]


class Feeds:
    """The feeds of all projects that streams of one event loop follow. To the watch it is one waiter."""

    def __init__(self) -> None:
        self._feeds: dict[int, Feed] = {}
        self._readers: set[Reader] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()  # Of what the thread of the watch reads, too: the next two.
        self._read_to: dict[int, int] = {}
        self._listeners: set[Listener] = set()
        self._checked_at = 0.0

    # -- In the event loop -------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._readers)

    def count_of(self, counted_as: str) -> int:
        return sum(each.listener.counted_as == counted_as for each in self._readers)

    def add(self, reader: Reader, newest: Mapping[int, int]) -> None:
        """Begin to read for it. `newest`: the ids from which on events are read, where no one followed."""
        self._loop = asyncio.get_running_loop()
        is_new = not newest.keys() <= self._feeds.keys()
        for project_id, event_id in newest.items():
            if project_id not in self._feeds:
                self._feeds[project_id] = Feed(event_id)
                with self._lock:
                    self._read_to[project_id] = event_id
            self._feeds[project_id].readers.add(reader)
        self._readers.add(reader)
        self._note_listeners()
        if self._check not in watch.while_waiting:
            watch.while_waiting.append(self._check)
        if is_new or len(self._readers) == 1:
            watch.add(self)

    def remove(self, reader: Reader) -> None:
        self._readers.discard(reader)
        for project_id in reader.seen:
            feed = self._feeds[project_id]
            feed.readers.discard(reader)
            if not feed.readers:
                del self._feeds[project_id]
                with self._lock:
                    del self._read_to[project_id]
        self._note_listeners()
        if not self._readers:
            watch.remove(self)
            watch.while_waiting.remove(self._check)

    def of(self, project_id: int) -> Feed:
        return self._feeds[project_id]

    def end_all(self) -> None:
        for reader in self._readers:
            reader.end()

    def _note_listeners(self) -> None:
        listeners = {each.listener for each in self._readers}
        with self._lock:
            self._listeners = listeners

    def _add(self, project_id: int, known: int, told: Sequence[Told]) -> None:
        feed = self._feeds.get(project_id)
        if feed and feed.add(known, told):
            for behind in feed.forget(project_id):
                behind.end()
            for reader in feed.readers:
                reader.wake()

    def _end(self, gone: set[Listener]) -> None:
        for reader in self._readers:
            if reader.listener in gone:
                reader.end()

    # -- In the thread of the watch ----------------------------------------------------------------

    @property
    def after(self) -> Mapping[int, int]:
        with self._lock:
            return dict(self._read_to)

    def take(self, project_id: int, known: int, events: Sequence[NewEvent]) -> None:
        with self._lock:
            read_to = self._read_to.get(project_id)
            if not events or read_to is None or known > read_to:
                return
            self._read_to[project_id] = max(read_to, events[-1].id)
        told = [Told.of(event) for event in events if event.id > read_to]
        self._call(self._add, project_id, max(known, read_to), told)

    def wake(self) -> None:
        """Nothing is read any more: end all streams. Their readers come back."""
        self._call(self.end_all)

    def _check(self) -> None:
        """End the streams of those who may no longer listen as they do."""
        if monotonic() - self._checked_at < SECONDS_BETWEEN_CHECKS:
            return
        self._checked_at = monotonic()
        with self._lock:
            listeners = self._listeners
        if gone := listeners - still_listening(listeners):
            self._call(self._end, gone)

    def _call(self, function: object, *arguments: object) -> None:
        if self._loop and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)  # type: ignore[arg-type]
