"""The results as Markdown; the JSON is their `dataclasses.asdict`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from benchmarks.figures import Floor, Latency, Load, Results, Start, Tokens

T = TypeVar("T")

BASE_SIZE = 1_000
EXPLAINED = "p50 / p95 / worst in ms; in brackets the CPU ms of the server process."


def markdown(results: Results) -> str:
    parts = ["# Measurements", _machine(results)]
    for server, rows in _by_server(results.latencies).items():
        parts.append(f"## Latency, {server}\n\n{EXPLAINED}\n\n{_latency(rows)}")
    if len({row.size for row in results.latencies}) > 1:
        parts += _section(f"Flatness: p50, {BASE_SIZE:,} decisions being 1", results.latencies, _flatness)
    parts += _section("Floor: sqlite3 alone, the same rows, in ms", results.floors, _floor)
    parts += _section("Load: half of the calls set, half get; times in ms", results.loads, _load)
    parts += _section("Start", results.starts, _start)
    parts += _section("Tokens (o200k)", results.tokens, _tokens)
    parts += _section("Failures", results.failures, lambda lines: "\n".join(f"- {line}" for line in lines))
    return "\n\n".join(parts) + "\n"


def _section(title: str, rows: Sequence[T], shown: Callable[[Sequence[T]], str]) -> list[str]:
    return [f"## {title}\n\n{shown(rows)}"] if rows else []


def _machine(results: Results) -> str:
    packages = results.machine["packages"]
    versions = ", ".join(f"{name} {number}" for name, number in packages.items())
    facts = {name: value for name, value in results.machine.items() if name != "packages"}
    return (
        "; ".join([*(f"{name.replace('_', ' ')} {value}" for name, value in facts.items()), versions]) + "."
    )


def _by_server(rows: Iterable[Latency]) -> dict[str, list[Latency]]:
    found: dict[str, list[Latency]] = {}
    for row in rows:
        found.setdefault(f"{row.engine}, {row.transport}", []).append(row)
    return found


def _latency(rows: Sequence[Latency]) -> str:
    sizes = sorted({row.size for row in rows})
    cells = {(row.operation, row.size): row for row in rows}
    lines = []
    for operation in dict.fromkeys(row.operation for row in rows):
        found = [cells[operation, size] for size in sizes]
        lines.append([operation, *(f"{_three(row)} ({row.cpu:.2f})" for row in found)])
    return table(["", *(f"{size:,}" for size in sizes)], lines)


def _flatness(rows: Sequence[Latency]) -> str:
    sizes = sorted({row.size for row in rows})
    base_size = BASE_SIZE if BASE_SIZE in sizes else sizes[0]
    others = [size for size in sizes if size != base_size]
    servers = _by_server(rows)
    p50 = {
        (name, row.operation, row.size): row.timing.p50 for name, found in servers.items() for row in found
    }
    lines = [
        [
            operation,
            *(_ratio(p50, name, operation, size, base_size) for name in servers for size in others),
        ]
        for operation in dict.fromkeys(row.operation for row in rows)
    ]
    return table(["", *(f"{name}, {size:,}" for name in servers for size in others)], lines)


def _ratio(p50: Mapping[tuple[str, str, int], float], name: str, operation: str, size: int, base: int) -> str:
    return f"{p50[name, operation, size] / p50[name, operation, base]:.2f}"


def _floor(rows: Sequence[Floor]) -> str:
    sizes = sorted({row.size for row in rows})
    cells = {(row.operation, row.size): row for row in rows}
    operations = dict.fromkeys(row.operation for row in rows)
    return table(
        ["", *(f"{size:,}" for size in sizes)],
        [[operation, *(_three(cells[operation, size]) for size in sizes)] for operation in operations],
    )


def _load(rows: Sequence[Load]) -> str:
    return table(
        [
            *(
                "server",
                "decisions",
                "clients",
                "calls/s",
                "write p50 / p95 / worst",
                "read p50 / p95 / worst",
            ),
            *("errors", "lost", "RSS MiB", "CPU ms a call"),
        ],
        [
            [
                f"{row.engine}, {row.transport}",
                f"{row.size:,}",
                str(row.clients),
                f"{row.per_second:,.0f}",
                " / ".join(f"{ms:.1f}" for ms in (row.writes.p50, row.writes.p95, row.writes.worst)),
                " / ".join(f"{ms:.1f}" for ms in (row.reads.p50, row.reads.p95, row.reads.worst)),
                str(row.errors),
                f"{row.lost} of {row.acknowledged:,}",
                f"{row.rss_mib:,.0f}",
                f"{row.cpu:.2f}",
            ]
            for row in rows
        ],
    )


def _start(rows: Sequence[Start]) -> str:
    return table(
        ["server", "to tools/list, ms", "to the first call, ms", "of it CPU, ms", "RSS MiB"],
        [
            [f"{row.engine}, {row.transport}"]
            + [f"{figure:,.0f}" for figure in (row.to_tools, row.to_call, row.cpu, row.rss_mib)]
            for row in rows
        ],
    )


def _tokens(rows: Sequence[Tokens]) -> str:
    return table(["", "tokens"], [[row.what, f"{row.tokens:,}"] for row in rows])


def _three(row: Latency | Floor) -> str:
    return f"{row.timing.p50:.2f} / {row.timing.p95:.2f} / {row.timing.worst:.1f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
