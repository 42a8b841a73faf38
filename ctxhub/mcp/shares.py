"""Shares the threads of a process among projects, and those of a project among the people of its tokens."""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

from ctxhub.core.kit.caller import Caller

T = TypeVar("T")

# Who was at work so lately is expected again: a place is kept free for it.
EXPECTED_SECONDS = 60.0


class Share(NamedTuple):
    """Whom a call is for: the slug of a project, and in it the person who made the token.

    "": no project, for what the hub does by itself, for pages, and for callers who are not known yet.
    """

    project: str
    person: str

    @classmethod
    def of(cls, caller: Caller) -> "Share":
        """A token that nobody made (a command did) is a person by itself."""
        person = f"user {caller.maker_id}" if caller.maker_id else f"token {caller.token_id}"
        return cls(caller.project.slug, person)


HUB = Share("", "hub")


class Turns(Generic[T]):
    """Who of those that wait is next, and how many run.

    Alone, a project may use all `threads`; beside another that waits or worked within the last minute, half
    of them. Whoever comes while another holds more than half need not wait for it: up to `spare` further
    threads are there for that. The people of a project share its part in the same way.
    Not safe for threads: callers hold a lock.
    """

    def __init__(self, threads: int, spare: int, clock: Callable[[], float] = monotonic) -> None:
        self._threads, self._spare, self._clock = threads, spare, clock
        self._waiting: dict[Share, deque[T]] = {}
        self._running: Counter[Hashable] = Counter()
        self._total = 0
        self._projects: dict[str, float] = {}
        self._people: dict[str, dict[str, float]] = {}

    def add(self, share: Share, work: T) -> None:
        self._see(share)
        self._waiting.setdefault(share, deque()).append(work)

    def next(self) -> tuple[Share, T] | None:
        """Take what is to start now; None if nothing waits, or all of it has to wait on."""
        if not self._waiting or self._total >= self._threads + self._spare:
            return None
        for share in sorted(self._waiting, key=self._rank) if len(self._waiting) > 1 else self._waiting:
            if self._may_start(share):
                return share, self._start(share)
        return None

    def end(self, share: Share) -> None:
        self._count(share, -1)
        self._see(share)

    def _start(self, share: Share) -> T:
        works = self._waiting[share]
        work = works.popleft()
        if not works:
            del self._waiting[share]
        else:  # Behind those that rank alike.
            self._waiting[share] = self._waiting.pop(share)
        self._count(share, 1)
        return work

    def _count(self, share: Share, change: int) -> None:
        self._total += change
        for key in (share, share.project):
            self._running[key] += change
            if not self._running[key]:
                del self._running[key]

    def _rank(self, share: Share) -> tuple[int, int]:
        """Fewest at work first, those of the project before the person's own; else in order."""
        return self._running[share.project], self._running[share]

    def _may_start(self, share: Share) -> bool:
        project, person = share
        threads = self._threads
        of_project = threads // 2 if self._is_shared(self._projects, project) else threads
        is_shared = self._is_shared(self._people[project], person)
        of_person = max(of_project // 2, 1) if is_shared else of_project
        if self._running[share] >= of_person:
            return False
        others = (Share(project, other) for other in self._people[project] if other != person)
        if is_shared and self._holds_more(others, of_project // 2):
            return True
        if self._running[project] >= of_project:
            return False
        return self._total < threads or (
            self._running[project] < threads // 2 and self._holds_more(self._projects, threads // 2)
        )

    def _holds_more(self, parties: Iterable[Hashable], half: int) -> bool:
        return any(self._running[party] > half for party in parties)

    def _is_shared(self, seen: dict[str, float], party: str) -> bool:
        """Whether another was seen lately. The last one seen stands last."""
        since = self._clock() - EXPECTED_SECONDS
        return any(seen[other] > since for other in list(reversed(seen))[:2] if other != party)

    def _see(self, share: Share) -> None:
        project, person = share
        people = self._people.setdefault(project, {})
        _move_to_end(self._projects, project, self._clock())
        _move_to_end(people, person, self._clock())
        self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Forget the person who was not seen for the longest time, unless lately, at work or waiting."""
        project = next(iter(self._projects))
        person, seen = next(iter(self._people[project].items()))
        share = Share(project, person)
        if seen > self._clock() - EXPECTED_SECONDS or self._running[share] or share in self._waiting:
            return
        del self._people[project][person]
        if not self._people[project]:
            del self._people[project], self._projects[project]


def _move_to_end(seen: dict[str, float], party: str, now: float) -> None:
    seen.pop(party, None)
    seen[party] = now
