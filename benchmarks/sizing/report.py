"""The tables of docs/sizing.md, and their places there."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.figures import Timing
from benchmarks.report import table
from benchmarks.sizing.measuring import Measured, Phase
from benchmarks.sizing.model import CALLS_AN_HOUR, USES, WRITES_AN_HOUR, Team

Tables = Mapping[str, str]
"""By the name of their place."""

MIB = 1024 * 1024


def tables(
    measured: Sequence[Measured],
    weights: Mapping[str, Mapping[str, int]],
    facts: Mapping[str, Any],
    note: str,
) -> Tables:
    return {
        "machine": _machine(facts, note),
        "load": _load(measured),
        "most": _most(measured),
        "memory": _memory(measured),
        "bytes": _bytes(weights),
        "disk": _disk(measured),
    }


def model_tables(teams: Sequence[Team]) -> Tables:
    """Those that follow from the model alone."""
    return {"calls": _calls(), "teams": _teams(teams)}


def _machine(facts: Mapping[str, Any], note: str) -> str:
    packages = ", ".join(f"{name} {number}" for name, number in facts["packages"].items())
    return (
        f"Measured on {facts['date']}. Hub, database and the program that asks share {facts['cores']} cores"
        f" ({facts['processor']}), load average before {facts['load_before']}. Python {facts['python']},"
        f" SQLite {facts['sqlite']}, {packages}. {note}"
    ).rstrip()


def _calls() -> str:
    rows = [
        [
            use.name,
            "hook, REST" if use.by_hook else "model, MCP",
            "write" if use.writes else "read",
            str(use.an_hour),
        ]
        for use in USES
    ]
    return table(
        ["call", "by", "", "an hour"], [*rows, ["all", "", f"{WRITES_AN_HOUR} write", str(CALLS_AN_HOUR)]]
    )


def _teams(teams: Sequence[Team]) -> str:
    return table(
        [
            "people",
            "agents",
            "projects",
            "calls a second",
            "at the peak",
            "calls a day",
            "writes a day",
            "events a year",
        ],
        [
            [
                f"{team.people:,}",
                f"{team.agents:,}",
                f"{team.projects:,}",
                f"{team.calls_a_second:,.1f}",
                f"{team.peak:,.1f}",
                f"{team.calls_a_day:,}",
                f"{team.writes_a_day:,}",
                f"{team.rows(12).events:,}",
            ]
            for team in teams
        ],
    )


def _load(measured: Sequence[Measured]) -> str:
    return table(
        [
            *("people", "engine", "workers", "database MiB", "asked a second", "reached", "calls"),
            *("write p50 / p95, ms", "read p50 / p95, ms", "errors"),
        ],
        [
            [
                *_who(one),
                f"{one.hub_bytes / MIB:,.0f}",
                f"{one.open.asked:,.1f}",
                f"{one.open.reached:,.1f}",
                f"{one.open.calls:,}",
                *_times(one.open),
                str(one.open.errors),
            ]
            for one in measured
        ],
    )


def _most(measured: Sequence[Measured]) -> str:
    return table(
        [
            *("people", "engine", "workers", "calls a second", "times the peak"),
            *("write p50 / p95, ms", "read p50 / p95, ms", "CPU ms a call: hub", "PostgreSQL", "errors"),
        ],
        [
            [
                *_who(one),
                f"{one.closed.reached:,.0f}",
                f"{one.closed.reached / one.team.peak:,.1f}",
                *_times(one.closed),
                f"{one.closed.hub_cpu:.1f}",
                f"{one.closed.database_cpu:.1f}" if one.database_memory else "in the hub's",
                str(one.closed.errors),
            ]
            for one in measured
        ],
    )


def _memory(measured: Sequence[Measured]) -> str:
    return table(
        [
            "people",
            "engine",
            "workers",
            "each process, RSS",
            "each process, PSS",
            "hub, PSS",
            "PostgreSQL, PSS",
        ],
        [
            [
                *_who(one),
                " + ".join(f"{each.rss:,.0f}" for each in one.workers_memory),
                " + ".join(f"{each.pss:,.0f}" for each in one.workers_memory),
                f"{one.hub_memory.pss:,.0f}",
                f"{one.database_memory.pss:,.0f}" if one.database_memory else "none",
            ]
            for one in measured
        ],
    )


def _bytes(weights: Mapping[str, Mapping[str, int]]) -> str:
    kinds = next(iter(weights.values()))
    return table(
        ["a row of", *weights],
        [[kind, *(f"{each[kind]:,}" for each in weights.values())] for kind in kinds],
    )


def _disk(measured: Sequence[Measured]) -> str:
    return table(
        [
            "people",
            "engine",
            "workers",
            "KiB on disk a write",
            "KiB of WAL a write",
            "MiB on disk a day",
            "MiB of WAL a day",
        ],
        [
            [
                *_who(one),
                f"{one.disk_bytes / 1024:.1f}",
                f"{one.wal_bytes / 1024:.1f}" if one.wal_bytes is not None else "in the former",
                f"{one.disk_bytes * one.team.writes_a_day / MIB:,.0f}",
                f"{one.wal_bytes * one.team.writes_a_day / MIB:,.0f}"
                if one.wal_bytes is not None
                else "in the former",
            ]
            for one in measured
        ],
    )


def _who(one: Measured) -> list[str]:
    return [f"{one.team.people:,}", one.engine, str(one.workers)]


def _times(phase: Phase) -> list[str]:
    return [_two(phase.writes), _two(phase.reads)]


def _two(found: Timing | None) -> str:
    return f"{found.p50:.0f} / {found.p95:.0f}" if found else "too few"
