"""Speed of appending to and searching pads: `python -m benchmarks.pads [--engine postgres] [--size 10000]`.

Real clients over stdio, each with a server process of its own, as agents have: first one, then 16. Each
appends a paragraph to a pad of its own workflow and searches all pads, in turns.
"""

import argparse
import selectors
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles

from benchmarks.client import Client, answer_of, result_of
from benchmarks.databases import Engine, Hub, databases
from benchmarks.inside import connected
from benchmarks.operations import tool
from benchmarks.prose import Prose
from benchmarks.servers import Transport, running
from benchmarks.wire import Wire

PADS_IN_WORKFLOW = 50
WRITERS = (1, 16)
WARM_UP_CALLS = 10


@dataclass
class Agent:
    """A client with one call at a time, and the milliseconds of its calls."""

    client: Client
    prose: Prose
    pads: Sequence[int]
    appends: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    _is_appending: bool = False
    _started: float = 0.0

    def send_next(self) -> None:
        self._is_appending = not self._is_appending
        if self._is_appending:
            pad = self.prose.random.choice(self.pads)
            params = tool("scratchpad", "append", scratchpad_id=pad, content=self.prose.text())
        else:
            query = " ".join(self.prose.word() for _ in range(3))
            params = tool("scratchpad", "search", query=query, limit=10)
        frame = self.client.frame("tools/call", params)
        self._started = time.perf_counter()
        self.client.channel.send(frame)

    def receive(self) -> bool:
        """Read available bytes; return whether the answer is complete. Raises Refused for an error."""
        body = self.client.channel.receive()
        if body is None:
            return False
        took = (time.perf_counter() - self._started) * 1000
        (self.appends if self._is_appending else self.searches).append(took)
        answer_of(result_of(body))
        return True


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pads")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--size", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    with databases(options.engine) as factory:
        hub = factory.empty()
        with connected(hub):
            pads = _fill(options.size)
        for writers in WRITERS:
            with _agents(hub, pads, writers) as agents:
                _run(agents, options.seconds)
                _report(options.size, agents)


def _fill(size: int) -> list[int]:
    from django.core.management import call_command

    from benchmarks.seeding import tidy
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller
    from memory.scratchpads.services import create_scratchpad
    from memory.workflows.services import create_workflow

    call_command("migrate", verbosity=0)
    caller, prose = Caller(project=create_project(slug="bench"), agent="bench"), Prose(seed=5)
    pads: list[int] = []
    while len(pads) < size:
        workflow = create_workflow(caller=caller, name=prose.word())["workflow_id"]
        for _ in range(min(PADS_IN_WORKFLOW, size - len(pads))):
            content = "\n\n".join(prose.text() for _ in range(5))
            made = create_scratchpad(caller=caller, workflow_id=workflow, name=prose.word(), content=content)
            pads.append(made["scratchpad_id"])
    tidy()
    return pads


@contextmanager
def _agents(hub: Hub, pads: Sequence[int], count: int) -> Iterator[list[Agent]]:
    with ExitStack() as stack:
        servers = [stack.enter_context(running(hub, Transport.STDIO, agent=f"a{n}")) for n in range(count)]
        clients = [server.connect(Wire.INITIALIZED) for server in servers]
        yield [
            Agent(client, Prose(seed=number), pads[number::count]) for number, client in enumerate(clients)
        ]


def _run(agents: Sequence[Agent], seconds: float) -> None:
    """Run all agents in one thread: several would wait for the interpreter, and measure that."""
    with selectors.DefaultSelector() as selector:
        started = time.perf_counter()
        for agent in agents:
            agent.send_next()
            selector.register(agent.client.channel, selectors.EVENT_READ, agent)
        while selector.get_map():
            for key, _ in selector.select():
                if not key.data.receive():
                    continue
                if time.perf_counter() - started < seconds:
                    key.data.send_next()
                else:
                    selector.unregister(key.data.client.channel)


def _report(size: int, agents: Sequence[Agent]) -> None:
    for name in ("appends", "searches"):
        times = [milliseconds for agent in agents for milliseconds in getattr(agent, name)[WARM_UP_CALLS:]]
        print(
            f"{size:,} pads, {len(agents)} at once, {name}: p50 {median(times):.1f} ms,"
            f" p95 {quantiles(times, n=20)[-1]:.1f} ms, worst {max(times):.0f} ms, {len(times)} calls",
            flush=True,
        )


if __name__ == "__main__":
    main()
