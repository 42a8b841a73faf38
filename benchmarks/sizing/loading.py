"""The load: calls at the rate of a team, whatever the answers take, and as many as the hub can answer."""

import selectors
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from random import Random

from benchmarks.sizing.calls import Agent
from benchmarks.sizing.model import IS_WRITE, deck

# A call that is not answered by then counts as an error.
LATE_SECONDS = 30
LOOK_SECONDS = 0.5


@dataclass
class Answered:
    """Seconds from when each call was due to its answer, and what was wrong."""

    took: float = 0.0
    writes: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        return len(self.writes) + len(self.reads)

    @property
    def per_second(self) -> float:
        return self.calls / self.took


class Load:
    """Agents that share a stream of calls, in the proportions of the model."""

    def __init__(self, agents: Sequence[Agent], seed: int = 1) -> None:
        self._idle = [*agents]
        self._random = Random(seed)
        self._uses = cycle(deck(seed))

    def at_rate(self, a_second: float, seconds: float) -> Answered:
        """Calls come at random, so many a second on average; one waits for an agent if all are busy."""
        return self._run(self._arrivals(a_second, seconds), LATE_SECONDS + seconds)

    def without_pause(self, clients: int, seconds: float) -> Answered:
        """So many calls at a time: the next is due as one is answered."""
        return self._run(iter([0.0] * clients), seconds, repeats=True)

    def _arrivals(self, a_second: float, seconds: float) -> Iterator[float]:
        at = self._random.expovariate(a_second)
        while at < seconds:
            yield at
            at += self._random.expovariate(a_second)

    def _run(self, arrivals: Iterator[float], seconds: float, *, repeats: bool = False) -> Answered:
        """`arrivals`: when calls are due, in seconds from now. `repeats`: after an answer the next is due."""
        answered = Answered()
        due: deque[float] = deque()
        following = next(arrivals, None)
        started = time.perf_counter()
        with selectors.DefaultSelector() as selector:
            while True:
                now = time.perf_counter() - started
                while following is not None and following <= now:
                    due.append(following)
                    following = next(arrivals, None)
                while due and self._idle and now < seconds:
                    self._send(selector, due.popleft())
                is_over = now >= seconds or (following is None and not due)
                if is_over and (not selector.get_map() or now >= seconds + LATE_SECONDS):
                    break
                wait = LOOK_SECONDS if following is None else min(LOOK_SECONDS, max(0.0, following - now))
                for key, _ in selector.select(wait):
                    if self._is_answered(answered, selector, key, started) and repeats:
                        due.append(time.perf_counter() - started)
            late = len(selector.get_map()) + (0 if repeats else len(due))
        answered.errors += ["a call was not answered"] * late
        answered.took = time.perf_counter() - started
        return answered

    def _is_answered(
        self, answered: Answered, selector: selectors.BaseSelector, key: selectors.SelectorKey, started: float
    ) -> bool:
        """Read what there is; whether that ends the call, which then is counted."""
        agent, was_due = key.data
        if (wrong := agent.receive()) is None:
            return False
        selector.unregister(agent.channel)
        self._idle.append(agent)
        seconds = time.perf_counter() - started - was_due
        (answered.writes if IS_WRITE[agent.use] else answered.reads).append(seconds)
        answered.errors += [wrong] * bool(wrong)
        return True

    def _send(self, selector: selectors.BaseSelector, was_due: float) -> None:
        agent = self._idle.pop(self._random.randrange(len(self._idle)))
        agent.send(next(self._uses))
        selector.register(agent.channel, selectors.EVENT_READ, (agent, was_due))
