"""How long others wait: `python -m benchmarks.delays [--engine postgres] [--workers 2] [--only attack]`.

A client of one project calls `decision get`, `search` and `decision set`, with pauses, while an attacker of
another project makes the calls that cost most, and calls at the limits of one operation after the other.
Before each attack the client is measured on the idle hub. `--only`: attacks or tools by name.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from benchmarks import machine
from benchmarks.channels import McpChannel
from benchmarks.databases import ROOT, Engine, databases
from benchmarks.faces import Mcp
from benchmarks.figures import Timing, timing
from benchmarks.operations import Context
from benchmarks.servers import Server, serving
from benchmarks.wire import Wire

DECISIONS = 1_000
OPERATIONS = ("get", "search", "set")
WRITES = ("set",)
PAUSE_SECONDS = 0.01
READS_LATER_MS, WRITES_MS = 100, 300


@dataclass(frozen=True, slots=True)
class Waits:
    """How long the calls of the client took."""

    reads: Timing
    writes: Timing


@dataclass(frozen=True, slots=True)
class Delay:
    operation: str
    calls: int
    idle: Waits
    attacked: Waits

    @property
    def reads_later(self) -> float:
        """Milliseconds by which the attack delays reads, at p95."""
        return self.attacked.reads.p95 - self.idle.reads.p95

    @property
    def is_long(self) -> bool:
        return self.reads_later > READS_LATER_MS or self.attacked.writes.p50 > WRITES_MS

    def __str__(self) -> str:
        cells = [
            " / ".join(f"{value:.0f}" for value in (timed.p50, timed.p95, timed.worst))
            for waits in (self.idle, self.attacked)
            for timed in (waits.reads, waits.writes)
        ]
        return f"| {self.operation} | {self.calls} | {' | '.join(cells)} | {self.reads_later:.0f} |"


@dataclass
class Attacker:
    """The process of benchmarks.hostile."""

    process: "subprocess.Popen[str]"
    operations: Sequence[str]

    def begin(self, operation: str, seconds: float) -> None:
        self._pipe(self.process.stdin).write(f"{operation} {seconds}\n")
        self._pipe(self.process.stdin).flush()

    def end(self) -> int:
        return int(self._pipe(self.process.stdout).readline())

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


@contextmanager
def attacker(server: Server) -> Iterator[Attacker]:
    command = [sys.executable, "-m", "benchmarks.hostile", str(server.port)]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=server.hub.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield Attacker(process, process.stdout.readline().split())
        finally:
            process.kill()


def client_of(server: Server) -> Callable[[float], Waits]:
    """Returns a function that reads and writes for some seconds."""
    client = server.connect(Wire.INITIALIZED)
    assert isinstance(client.channel, McpChannel)
    face = Mcp(client.channel, client, "reader", Context(DECISIONS))

    def call(seconds: float) -> Waits:
        until = time.monotonic() + seconds
        reads: list[float] = []
        writes: list[float] = []
        while time.monotonic() < until or not writes:
            for operation in OPERATIONS:
                frame = face.frame(operation)
                started = time.perf_counter()
                face.channel.send(frame)
                while (body := face.channel.receive()) is None:
                    pass
                (writes if operation in WRITES else reads).append(time.perf_counter() - started)
                face.answer(body)
                time.sleep(PAUSE_SECONDS)
        return Waits(timing([reads]), timing([writes]))

    return call


def measure(server: Server, only: Sequence[str], seconds: float) -> Iterator[Delay]:
    call = client_of(server)
    call(seconds)
    with attacker(server) as hostile:
        for operation in hostile.operations:
            if only and operation not in only and operation.partition(".")[0] not in only:
                continue
            idle = call(seconds / 2)
            hostile.begin(operation, seconds)
            attacked = call(seconds)
            yield Delay(operation, hostile.end(), idle, attacked)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.delays")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3, help="of each attack")
    parser.add_argument("--only", type=lambda names: names.split(","), default=[])
    options = parser.parse_args()
    print(f"{options.engine}, {options.workers} workers, load before {machine.load()}", flush=True)
    print("| ms: p50 / p95 / worst | attacks | idle reads | writes | attacked reads | writes | reads later |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    long = 0
    with (
        databases(options.engine) as factory,
        serving(factory.seeded(DECISIONS), workers=options.workers) as server,
    ):
        for delay in measure(server, options.only, options.seconds):
            long += delay.is_long
            print(delay, flush=True)
    print(
        f"{long} delay others: reads by over {READS_LATER_MS} ms at p95, or writes at p50 over {WRITES_MS} ms"
    )
    return 1 if long else 0


if __name__ == "__main__":
    sys.exit(main())
