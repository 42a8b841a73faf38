"""The results of measurements, and the statistics that they are computed with."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds per call. `p50` is the median of the medians of rounds; p95 and worst are of all calls."""

    p50: float
    p95: float
    worst: float
    calls: int


def timing(rounds: Sequence[Sequence[float]]) -> Timing:
    """The timing of a list of seconds for each round."""
    everything = sorted(value for seconds in rounds for value in seconds)
    medians = [statistics.median(seconds) for seconds in rounds if seconds]
    return Timing(
        p50=_ms(statistics.median(medians)),
        p95=_ms(everything[min(len(everything) - 1, int(len(everything) * 0.95))]),
        worst=_ms(everything[-1]),
        calls=len(everything),
    )


@dataclass(frozen=True, slots=True)
class Latency:
    """One operation of one server. `cpu`: milliseconds of the server process per call, without PostgreSQL."""

    engine: str
    transport: str
    size: int
    operation: str
    timing: Timing
    cpu: float


@dataclass(frozen=True, slots=True)
class Floor:
    """The same rows, written and read by sqlite3 without the hub, in one process."""

    size: int
    operation: str
    timing: Timing


@dataclass(frozen=True, slots=True)
class Load:
    """Many concurrent clients; half of the calls write. `lost`: acknowledged writes that are missing.

    `cpu`: milliseconds of all server processes per call.
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
    """Medians: milliseconds from the start of the process, CPU milliseconds, and MiB after the calls."""

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
