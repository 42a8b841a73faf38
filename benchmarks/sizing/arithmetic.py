"""What many people need, computed from what was measured of some on PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.report import table
from benchmarks.sizing.measuring import Measured
from benchmarks.sizing.model import Team

GIB = 1024**3
# A processor that is half idle at the peak answers soon.
BUSY = 0.5
CONNECTIONS_OF_WORKER = 12
# Rows by the name under which they were weighed.
WEIGHED = {
    "decision, set twice": "decisions",
    "memory": "memories",
    "message": "messages",
    "change of a file": "changes",
    "access to a file": "accesses",
    "saved session": "sessions",
    "use, by agent, operation and hour": "uses",
    "answer that gave an object": "given",
}
# They have no event.
SILENT = ("accesses", "uses", "given")
EVENT = "event, which stays of it"


@dataclass(frozen=True, slots=True)
class Measures:
    """`hub_cpu` and `database_cpu`: ms a call. `worker_mib`: what a further worker takes."""

    hub_cpu: float
    database_cpu: float
    worker_mib: float
    wal_bytes: float
    weights: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Need:
    """`year_bytes`: what the database holds after a year. `wal_a_second`: bytes, at the peak."""

    team: Team
    hub_cores: float
    database_cores: float
    workers: int
    hub_gib: float
    year_bytes: float
    wal_a_second: float

    @property
    def connections(self) -> int:
        return self.workers * CONNECTIONS_OF_WORKER


def measures(measured: Measured, weights: Mapping[str, int]) -> Measures:
    """Of the load without pauses: there is no call that waits for another agent to ask."""
    return Measures(
        hub_cpu=measured.closed.hub_cpu,
        database_cpu=measured.closed.database_cpu,
        # The first process starts the others, and answers itself where it has none.
        worker_mib=measured.hub_memory.pss / measured.workers,
        wal_bytes=measured.wal_bytes or 0,
        weights=weights,
    )


def need(team: Team, known: Measures) -> Need:
    hub_cores = team.peak * known.hub_cpu / 1000 / BUSY
    workers = max(1, round(hub_cores + 0.5))
    return Need(
        team=team,
        hub_cores=hub_cores,
        database_cores=team.peak * known.database_cpu / 1000 / BUSY,
        workers=workers,
        hub_gib=workers * known.worker_mib / 1024,
        year_bytes=year_bytes(team, known.weights),
        wal_a_second=team.peak * team.writes_a_day / team.calls_a_day * known.wal_bytes,
    )


def year_bytes(team: Team, weights: Mapping[str, int]) -> float:
    """What rows take, with their events; and the events of those that are no longer there."""
    rows = team.rows(12)
    held: Mapping[str, int] = {name: getattr(rows, field) for name, field in WEIGHED.items()}
    # A decision was weighed with two events.
    with_them = sum(held[name] for name, field in WEIGHED.items() if field not in SILENT) + rows.decisions
    return (
        sum(count * weights[name] for name, count in held.items())
        + (rows.events - with_them) * weights[EVENT]
    )


def needs_table(teams: Sequence[Team], known: Measures) -> str:
    return table(
        [
            *(
                "people",
                "agents",
                "calls a second at the peak",
                "cores: hub",
                "PostgreSQL",
                "workers",
                "their GiB",
            ),
            *("connections", "GiB after a year", "WAL MiB a second"),
        ],
        [
            [
                f"{one.team.people:,}",
                f"{one.team.agents:,}",
                f"{one.team.peak:,.0f}",
                f"{one.hub_cores:,.1f}",
                f"{one.database_cores:,.1f}",
                f"{one.workers:,}",
                f"{one.hub_gib:,.1f}",
                f"{one.connections:,}",
                f"{one.year_bytes / GIB:,.1f}",
                f"{one.wal_a_second / 1024**2:,.1f}",
            ]
            for one in (need(team, known) for team in teams)
        ],
    )
