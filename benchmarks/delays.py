"""How long others wait: `python -m benchmarks.delays [--engine postgres] [--workers 2] [--only memory.add]`.

A reader of one project calls `decision get` and `search`, with pauses, while an attacker of another project
makes calls at the limits of one operation after the other. Before each attack the reader is measured on the
idle hub.
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
READS = ("get", "search")
PAUSE_SECONDS = 0.01
GOAL_MS = 100


@dataclass(frozen=True, slots=True)
class Delay:
    operation: str
    calls: int
    idle: Timing
    attacked: Timing

    @property
    def p95(self) -> float:
        """Milliseconds by which the attack delays the reader, at p95."""
        return self.attacked.p95 - self.idle.p95


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


def reader(server: Server) -> Callable[[float], Timing]:
    """Returns a function that reads for some seconds."""
    client = server.connect(Wire.INITIALIZED)
    assert isinstance(client.channel, McpChannel)
    face = Mcp(client.channel, client, "reader", Context(DECISIONS))

    def read(seconds: float) -> Timing:
        until = time.monotonic() + seconds
        took: list[float] = []
        while time.monotonic() < until or not took:
            for operation in READS:
                frame = face.frame(operation)
                started = time.perf_counter()
                face.channel.send(frame)
                while (body := face.channel.receive()) is None:
                    pass
                took.append(time.perf_counter() - started)
                face.answer(body)
                time.sleep(PAUSE_SECONDS)
        return timing([took])

    return read


def measure(server: Server, only: Sequence[str], seconds: float) -> Iterator[Delay]:
    read = reader(server)
    read(seconds)
    with attacker(server) as hostile:
        for operation in only or hostile.operations:
            idle = read(seconds / 2)
            hostile.begin(operation, seconds)
            attacked = read(seconds)
            yield Delay(operation, hostile.end(), idle, attacked)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.delays")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3, help="of each attack")
    parser.add_argument("--only", type=lambda names: names.split(","), default=[])
    options = parser.parse_args()
    print(f"{options.engine}, {options.workers} workers, load before {machine.load()}", flush=True)
    print("| ms | attacks | idle p50 / p95 / worst | attacked | p95 later by |")
    print("| --- | --- | --- | --- | --- |")
    slow = 0
    with (
        databases(options.engine) as factory,
        serving(factory.seeded(DECISIONS), workers=options.workers) as server,
    ):
        for delay in measure(server, options.only, options.seconds):
            slow += delay.p95 > GOAL_MS
            idle, attacked = (
                f"{t.p50:.0f} / {t.p95:.0f} / {t.worst:.0f}" for t in (delay.idle, delay.attacked)
            )
            print(
                f"| {delay.operation} | {delay.calls} | {idle} | {attacked} | {delay.p95:.0f} |", flush=True
            )
    print(f"{slow} operations delay others by more than {GOAL_MS} ms at p95")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
