"""The command line options of `python -m benchmarks`."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.databases import Engine
from benchmarks.operations import OPERATIONS, Operation
from benchmarks.servers import Transport
from benchmarks.wire import Wire


class Part(StrEnum):
    LATENCY = "latency"
    FLOOR = "floor"
    LOAD = "load"
    START = "start"
    TOKENS = "tokens"


@dataclass(frozen=True)
class Options:
    engine: Engine
    sizes: Sequence[int]
    clients: Sequence[int]
    transports: Sequence[Transport]
    wire: Wire
    parts: Sequence[Part]
    operations: Sequence[Operation]
    rounds: int
    calls: int
    seconds: float
    json: Path | None
    markdown: Path | None


def parse(arguments: Sequence[str] | None = None) -> Options:
    parsed = _parser().parse_args(arguments)
    quick = parsed.quick
    names = parsed.only or [operation.name for operation in OPERATIONS]
    unknown = set(names) - {operation.name for operation in OPERATIONS}
    if unknown:
        known = ", ".join(operation.name for operation in OPERATIONS)
        raise SystemExit(f"No such operation: {', '.join(sorted(unknown))}. There are: {known}.")
    chosen = [operation for operation in OPERATIONS if operation.name in names]
    if parsed.wire is Wire.STATELESS:
        chosen = [operation for operation in chosen if operation.method != "ping"]  # That era has no ping.
    return Options(
        engine=parsed.engine,
        sizes=parsed.sizes or ([1_000] if quick else [100, 1_000, 10_000, 100_000]),
        clients=parsed.clients or ([5] if quick else [1, 5, 16]),
        transports=parsed.transports,
        wire=parsed.wire,
        parts=parsed.parts,
        operations=chosen,
        rounds=parsed.rounds or (3 if quick else 10),
        calls=parsed.calls or (10 if quick else 20),
        seconds=parsed.seconds or (2.0 if quick else 6.0),
        json=parsed.json,
        markdown=parsed.markdown,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure a hub.")
    add = parser.add_argument
    add("--quick", action="store_true", help="one size, few calls: a minute instead of many")
    add("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    add("--sizes", type=_list_of(int), help="decisions in the database: 100,1000,10000,100000")
    add("--clients", type=_list_of(int), help="clients at once: 1,5,16")
    add("--transports", type=_list_of(Transport), default=list(Transport), help="stdio,http")
    add("--wire", type=Wire, choices=list(Wire), default=Wire.INITIALIZED, help="the era of the protocol")
    add("--parts", type=_list_of(Part), default=list(Part), help=",".join(Part))
    add("--only", type=_list_of(str), help=",".join(operation.name for operation in OPERATIONS))
    add("--rounds", type=int, help="interleaved repetitions")
    add("--calls", type=int, help="calls of an operation in a round")
    add("--seconds", type=float, help="how long each load lasts, all its bursts together")
    add("--json", type=Path, metavar="FILE")
    add("--markdown", type=Path, metavar="FILE")
    return parser


def _list_of(kind: type) -> "type":
    return lambda text: [kind(part.strip()) for part in text.split(",") if part.strip()]  # type: ignore[return-value]
