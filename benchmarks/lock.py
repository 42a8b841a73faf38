"""What the commonest writes do while they have the write lock.

python -m benchmarks.lock [--engine postgres] [--writers 16] [--calls 200] [WRITE ...]

Of each write: its statements under the lock, and how long it had it, alone and while as many writers as there
are clients write the same, each in a process of its own, as stdio servers do.
"""

import argparse
import multiprocessing
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

from benchmarks import machine, texts
from benchmarks.databases import Engine, databases
from benchmarks.inside import Statements, connected, runner
from benchmarks.operations import OPERATIONS, Context, Params, tool

DECISIONS = 1_000
WARM_UP = 20
Call = Callable[[Params], dict[str, Any]]


@dataclass
class Writer:
    """One who writes: its calls, and what they need to exist."""

    call: Call
    context: Context
    numbers: "count[int]" = field(default_factory=count)
    pad: int = 0

    def prepare(self) -> None:
        workflow = self.call(tool("scratchpad", "create_workflow", name="notes"))["workflow_id"]
        pad = self.call(tool("scratchpad", "create", workflow_id=workflow, name="notes", content="first"))
        self.pad = pad["scratchpad_id"]
        self.call(tool("session", "save", summary="before"))


Make = Callable[[Writer], Params]


def _append(writer: Writer) -> Params:
    return tool("scratchpad", "append", scratchpad_id=writer.pad, content=texts.value(writer.context.random))


def _add(writer: Writer) -> Params:
    text = texts.value(writer.context.random)
    return tool("memory", "add", title=f"note {next(writer.numbers)}", content=text, type="note")


def _save(writer: Writer) -> Params:
    return tool("session", "save", summary=texts.value(writer.context.random))


def _track(writer: Writer) -> Params:
    return tool("session", "track", path=f"src/{next(writer.numbers) % 40}.py", access="edit")


def _constraint(writer: Writer) -> Params:
    return tool("constraint", "add", text=texts.value(writer.context.random), category="security")


def _of(name: str) -> Make:
    [operation] = [each for each in OPERATIONS if each.name == name]
    return lambda writer: operation.params(writer.context)


WRITES: Mapping[str, Make] = {
    **{name: _of(name) for name in ("set", "update", "send", "record", "lease")},
    "append": _append,
    "add": _add,
    "save": _save,
    "track": _track,
    "constraint": _constraint,
}


@dataclass(frozen=True, slots=True)
class Holds:
    """The milliseconds of holds, by the clock and by the processor."""

    clock: Sequence[float]
    cpu: Sequence[float]

    def __str__(self) -> str:
        return f"{_quantiles(self.clock)} | {_quantiles(self.cpu)}"


def _quantiles(values: Sequence[float]) -> str:
    tenths = statistics.quantiles(values, n=10)
    return f"{tenths[4]:.2f} / {tenths[8]:.2f}"


def _writer(number: int, size: int) -> Writer:
    call = runner(agent=f"writer-{number}")
    context = Context(size)
    context.random.seed(number)
    # The keys of each are its own.
    context.numbers = count(number * 1_000_000)
    writer = Writer(call, context, count(number * 1_000_000))
    writer.prepare()
    return writer


def _measure(writer: Writer, make: Make, calls: int) -> Holds:
    from benchmarks.lock_times import recorded_holds

    held: dict[Callable[[], float], list[float]] = {time.perf_counter: [], time.thread_time: []}
    for number in range(WARM_UP + calls):
        params = make(writer)
        for clock in held:
            with recorded_holds(clock, of_thread=True) as holds:
                writer.call(params if clock is time.perf_counter else make(writer))
            if number >= WARM_UP:
                held[clock].append(max(holds) * 1000)
    return Holds(*held.values())


def _count_statements(writer: Writer, make: Make) -> int:
    """The statements of a call while it has the lock, without BEGIN and COMMIT."""
    from django.db import connection

    from benchmarks.lock_times import recorded_holds

    for _ in range(WARM_UP):
        writer.call(make(writer))
    counted = Statements()

    def count_them() -> float:
        return float(len(counted.texts))

    with connection.execute_wrapper(counted), recorded_holds(count_them, of_thread=True) as holds:
        writer.call(make(writer))
    return round(max(holds))


def _together(names: Sequence[str], writers: int, size: int, calls: int) -> Mapping[str, tuple[Holds, float]]:
    """The holds of each write while all write it, and the calls a second of all."""
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(writers)
    pipes = []
    for number in range(1, writers + 1):
        here, there = fork.Pipe()
        process = fork.Process(
            target=_write_all, args=(there, barrier, number, size, names, calls), daemon=True
        )
        process.start()
        pipes.append(here)
    found: dict[str, tuple[Holds, float]] = {}
    for name in names:
        all_holds, seconds = zip(*(pipe.recv() for pipe in pipes), strict=True)
        clock = [value for holds in all_holds for value in holds.clock]
        cpu = [value for holds in all_holds for value in holds.cpu]
        found[name] = Holds(clock, cpu), 2 * (calls + WARM_UP) * writers / max(seconds)
    return found


def _write_all(
    pipe: Connection, barrier: Any, number: int, size: int, names: Sequence[str], calls: int
) -> None:
    writer = _writer(number, size)
    for name in names:
        barrier.wait()
        began = time.perf_counter()
        holds = _measure(writer, WRITES[name], calls)
        pipe.send((holds, time.perf_counter() - began))


@contextmanager
def _closed() -> Any:
    """The connection of this process is closed before others are forked from it."""
    from django.db import connection

    connection.close()
    yield


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lock")
    parser.add_argument("writes", nargs="*", default=list(WRITES), metavar="WRITE", help=", ".join(WRITES))
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--size", type=int, default=DECISIONS)
    options = parser.parse_args()
    names = [name for name in WRITES if name in options.writes]
    with databases(options.engine) as factory, connected(factory.seeded(options.size)):
        print(f"{options.engine}, load before {machine.load()}; p50 / p90 in ms", flush=True)
        with _closed():
            together = _together(names, options.writers, options.size, options.calls)
        print(f"| write | statements | alone | its CPU | {options.writers} | CPU of each | calls a second |")
        print("|---|---|---|---|---|---|---|")
        writer = _writer(0, options.size)
        for name in names:
            statements = _count_statements(writer, WRITES[name])
            alone = _measure(writer, WRITES[name], options.calls)
            holds, rate = together[name]
            print(f"| {name} | {statements} | {alone} | {holds} | {rate:.0f} |", flush=True)


if __name__ == "__main__":
    main()
