"""Many clients of both faces: `python -m benchmarks.mixed [--engine postgres] [--workers 2] [--clients 64]`.

Every second client speaks MCP, the others REST, to one `manage.py serve`. All make the same calls without
pauses; half of them write.
"""

import argparse
import selectors
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

from benchmarks import machine
from benchmarks.channels import NotDone
from benchmarks.client import Refused
from benchmarks.databases import Engine, databases
from benchmarks.faces import OPERATIONS, Face, connect_faces
from benchmarks.figures import timing
from benchmarks.servers import Server, serving

DECISIONS = 1_000
WARM_UP_SECONDS = 3
MEMORY_EVERY_SECONDS = 5


@dataclass
class Agent:
    """A client with one call at a time, and the seconds of its calls."""

    face: Face
    operations: Iterator[str]
    calls: list[tuple[str, float]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    _operation: str = ""
    _started: float = 0.0

    def send_next(self) -> None:
        self._operation = next(self.operations)
        frame = self.face.frame(self._operation)
        self._started = time.perf_counter()
        self.face.channel.send(frame)

    def receive(self) -> bool:
        """Read available bytes; return whether the answer is complete."""
        try:
            if (body := self.face.channel.receive()) is None:
                return False
            took = time.perf_counter() - self._started
            self.face.answer(body)
            self.calls.append((self._operation, took))
        except (NotDone, Refused) as error:
            self.errors.append(f"{self.face.name} {self._operation}: {error}")
        return True


def run(server: Server, agents: Sequence[Agent], seconds: float) -> tuple[float, list[float]]:
    """Run all agents in one thread; the seconds that it took, and the server's MiB every few seconds."""
    with selectors.DefaultSelector() as selector:
        started = time.perf_counter()
        memory: list[float] = []
        for agent in agents:
            agent.send_next()
            selector.register(agent.face.channel, selectors.EVENT_READ, agent)
        while selector.get_map():
            for key, _ in selector.select():
                if not key.data.receive():
                    continue
                if time.perf_counter() - started < seconds:
                    key.data.send_next()
                else:
                    selector.unregister(key.data.face.channel)
            if time.perf_counter() - started >= len(memory) * MEMORY_EVERY_SECONDS:
                memory.append(round(server.rss_mib, 1))
        return time.perf_counter() - started, memory


def report(agents: Sequence[Agent], took: float, memory: Sequence[float]) -> None:
    calls = sum(len(agent.calls) for agent in agents)
    errors = [error for agent in agents for error in agent.errors]
    print(f"{calls / took:.1f} calls a second, {len(errors)} errors {errors[:3]}, MiB {memory}", flush=True)
    print("| ms | MCP: calls, p50 / p95 / worst | REST: the same | MCP p50 / REST p50 |")
    print("| --- | --- | --- | --- |")
    for operation in sorted({operation for agent in agents for operation, _ in agent.calls}):
        faces = [timing([_seconds(agents, face, operation)]) for face in ("MCP", "REST")]
        cells = [f"{row.calls}, {row.p50:.0f} / {row.p95:.0f} / {row.worst:.0f}" for row in faces]
        print(f"| {operation} | {cells[0]} | {cells[1]} | {faces[0].p50 / faces[1].p50:.2f} |", flush=True)


def _seconds(agents: Sequence[Agent], face: str, operation: str) -> list[float]:
    mine = [agent for agent in agents if agent.face.name == face]
    return [took for agent in mine for called, took in agent.calls if called == operation]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mixed")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--operations", default=",".join(OPERATIONS), help="also same: set one key")
    options = parser.parse_args()
    operations = options.operations.split(",")
    print(f"{options.engine}, {options.workers} workers, load before {machine.load()}", flush=True)
    with (
        databases(options.engine) as factory,
        serving(factory.seeded(DECISIONS), workers=options.workers) as server,
    ):
        faces = connect_faces(server, options.clients, DECISIONS)
        agents = [
            Agent(face, islice(cycle(operations), number // 2, None)) for number, face in enumerate(faces)
        ]
        run(server, agents, WARM_UP_SECONDS)
        for agent in agents:
            agent.calls.clear()
        report(agents, *run(server, agents, options.seconds))


if __name__ == "__main__":
    main()
