"""What comes out of measuring: records of numbers, and the statistics they are made with."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds a call. `p50` is the median of the rounds' medians; p95 and worst are of all calls."""

    p50: float
    p95: float
    worst: float
    calls: int


def timing(rounds: Sequence[Sequence[float]]) -> Timing:
    """From seconds, a list for each round."""
    everything = sorted(second for one in rounds for second in one)
    medians = [statistics.median(one) for one in rounds if one]
    return Timing(
        p50=_ms(statistics.median(medians)),
        p95=_ms(everything[min(len(everything) - 1, int(len(everything) * 0.95))]),
        worst=_ms(everything[-1]),
        calls=len(everything),
    )


@dataclass(frozen=True, slots=True)
class Latency:
    """One operation of one server. `cpu`: milliseconds of the server process a call, without PostgreSQL's."""

    engine: str
    transport: str
    size: int
    operation: str
    timing: Timing
    cpu: float


@dataclass(frozen=True, slots=True)
class Floor:
    """The same rows, written and read by sqlite3 alone, in one process."""

    size: int
    operation: str
    timing: Timing


@dataclass(frozen=True, slots=True)
class Load:
    """Many clients at once, half of the calls writing. `lost`: acknowledged, yet not there afterwards.

    `cpu`: milliseconds of all server processes a call.
    """

    engine: str
    transport: str
    size: int
    clients: int
    per_second: float
    writes: Timing
    reads: Timing
    errors: int
    lost: int
    acknowledged: int
    rss_mib: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Start:
    """Medians: milliseconds from the start of the process, `cpu` those it used, and MiB after the calls."""

    engine: str
    transport: str
    to_tools: float
    to_call: float
    cpu: float
    rss_mib: float


@dataclass(frozen=True, slots=True)
class Tokens:
    what: str
    tokens: int


@dataclass
class Results:
    machine: dict[str, Any]
    latencies: list[Latency] = field(default_factory=list)
    floors: list[Floor] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    tokens: list[Tokens] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
