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
        """Calls that come at random, so many a second on average. A call waits for an agent if all are busy."""
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
        """`arrivals`: when calls are due, in seconds from now. `repeats`: an answer makes the next one due."""
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
                if now >= seconds or (following is None and not due):
                    if not selector.get_map() or now >= seconds + LATE_SECONDS:
                        break
                wait = max(0.0, following - now) if following is not None else 0.5
                for key, _ in selector.select(min(wait, 0.5)):
                    agent, was_due = key.data
                    if (wrong := agent.receive()) is None:
                        continue
                    selector.unregister(agent.channel)
                    now = time.perf_counter() - started
                    self._idle.append(agent)
                    self._count(answered, agent, now - was_due, wrong)
                    if repeats and now < seconds:
                        due.append(now)
            answered.errors += ["a call was not answered"] * (
                len(selector.get_map()) + len(due) * (not repeats)
            )
            answered.took = time.perf_counter() - started
        return answered

    def _send(self, selector: selectors.BaseSelector, was_due: float) -> None:
        agent = self._idle.pop(self._random.randrange(len(self._idle)))
        agent.send(next(self._uses))
        selector.register(agent.channel, selectors.EVENT_READ, (agent, was_due))

    def _count(self, answered: Answered, agent: Agent, seconds: float, wrong: str) -> None:
        (answered.writes if IS_WRITE[agent.use] else answered.reads).append(seconds)
        if wrong:
            answered.errors.append(wrong)
