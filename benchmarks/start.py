"""The time from the start of a process to its first answers, and its memory then."""

import statistics
import time
from collections.abc import Sequence

from benchmarks.databases import Hub
from benchmarks.figures import Start
from benchmarks.operations import tool
from benchmarks.servers import Transport, running
from benchmarks.wire import Wire

# Milliseconds to tools/list, to the first call and of CPU; MiB.
Stats = tuple[float, float, float, float]


def measure(hub: Hub, transports: Sequence[Transport], wire: Wire, *, rounds: int) -> list[Start]:
    """Medians of interleaved starts; a first one, which is not counted, compiles the modules."""
    measured: dict[Transport, list[Stats]] = {transport: [] for transport in transports}
    for turn in range(rounds + 1):
        for transport in transports:
            figures = _start(hub, transport, wire)
            if turn:
                measured[transport].append(figures)
    return [_medians(hub, transport, rows) for transport, rows in measured.items()]


def _start(hub: Hub, transport: Transport, wire: Wire) -> Stats:
    started = time.perf_counter()
    with running(hub, transport) as server:
        client = server.connect(wire)
        client.rpc("tools/list")
        to_tools = time.perf_counter() - started
        client.call(tool("decision", "list", limit=1))
        to_call = time.perf_counter() - started
        return to_tools * 1000, to_call * 1000, server.cpu_seconds * 1000, server.rss_mib


def _medians(hub: Hub, transport: Transport, rows: list[Stats]) -> Start:
    to_tools, to_call, cpu, rss = (round(statistics.median(column)) for column in zip(*rows, strict=True))
    return Start(hub.engine, transport, to_tools, to_call, cpu, rss)
