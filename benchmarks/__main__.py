"""`python -m benchmarks`: seed, measure, report."""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict

from benchmarks import floor, latency, load, machine, report, start, tokens
from benchmarks.channels import Broken
from benchmarks.client import Refused
from benchmarks.databases import Databases, Engine, Hub, databases
from benchmarks.figures import Latency, Load, Results
from benchmarks.latency import WrongAnswer
from benchmarks.options import Options, Part, parse
from tests.postgres import Stopped, stop_on_signals

# Limits the bursts of a load: each must be long enough to contain the slowest writes.
MAX_BURSTS = 5


def main() -> int:
    options = parse()
    stop_on_signals()
    results = Results({**machine.describe(), "wire": options.wire})
    try:
        with databases(options.engine) as factory:
            _measure(options, factory, results)
    except Stopped as stopped:
        return 128 + stopped.signum
    results.machine["load_after"] = machine.load()
    text = report.markdown(results)
    if options.json:
        options.json.write_text(json.dumps(asdict(results), indent=1) + "\n")
    if options.markdown:
        options.markdown.write_text(text)
    print(text)
    return 1 if results.failures else 0


def _measure(options: Options, factory: Databases, results: Results) -> None:
    hubs = []
    for size in options.sizes:
        print(f"benchmarks: seeding {size:,} decisions", file=sys.stderr, flush=True)
        hubs.append(factory.seeded(size))
    if Part.LATENCY in options.parts:
        with _part("latency", results):
            results.latencies += _latency(options, factory, hubs)
    if Part.FLOOR in options.parts and options.engine is Engine.SQLITE:
        with _part("floor", results):
            copies = [factory.copy(hub) for hub in hubs]
            results.floors += floor.measure(copies, rounds=options.rounds, calls=options.calls)
    if Part.LOAD in options.parts:
        for hub in hubs:
            with _part(f"load at {hub.size:,}", results):
                results.loads += _load(options, factory, hub)
    if Part.START in options.parts:
        with _part("start", results):
            copy = factory.copy(hubs[0])
            results.starts += start.measure(copy, options.transports, options.wire, rounds=options.rounds)
    if Part.TOKENS in options.parts:
        with _part("tokens", results):
            for row in tokens.measure(factory.copy(hubs[0]), options.wire):
                results.tokens.append(row)


@contextmanager
def _part(name: str, results: Results) -> Iterator[None]:
    """A part that fails is reported, and the other parts still run."""
    print(f"benchmarks: {name}", file=sys.stderr, flush=True)
    try:
        yield
    except (Refused, Broken, WrongAnswer) as error:
        results.failures.append(f"{name}: {error}")


def _latency(options: Options, factory: Databases, hubs: list[Hub]) -> list[Latency]:
    with ExitStack() as stack:
        subjects = [
            stack.enter_context(latency.subject(factory.copy(hub), transport, options.wire))
            for transport in options.transports
            for hub in hubs
        ]
        return latency.measure(subjects, options.operations, rounds=options.rounds, calls=options.calls)


def _load(options: Options, factory: Databases, hub: Hub) -> list[Load]:
    with ExitStack() as stack:
        crowds = [
            stack.enter_context(load.crowd(factory.copy(hub), transport, options.wire, clients))
            for clients in options.clients
            for transport in options.transports
        ]
        return load.measure(crowds, rounds=min(options.rounds, MAX_BURSTS), seconds=options.seconds)


if __name__ == "__main__":
    sys.exit(main())
