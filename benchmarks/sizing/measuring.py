"""Measures a team's hub on one engine: fills it, serves it, and loads it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import psutil
import psycopg

from benchmarks.databases import ROOT, Databases, Engine, Hub, databases, databases_of, temporary_server
from benchmarks.figures import Timing, timing
from benchmarks.servers import Server, serving
from benchmarks.sizing.calls import Agent
from benchmarks.sizing.filling import agent_name, slug
from benchmarks.sizing.loading import Answered, Load
from benchmarks.sizing.model import AGENTS_PER_PERSON, PEOPLE_PER_PROJECT, Team
from benchmarks.sizing.usage import (
    Memory,
    cpu_seconds,
    memory_of,
    memory_of_all,
    tree,
    written_bytes,
)
from benchmarks.wire import Wire

# As a server has them that is not for tests: what is committed is on the disk.
SERVER_SETTINGS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "autovacuum": "on",
    "statement_timeout": "0",
}
WARM_UP_SECONDS = 3
CLIENTS = 16
# With few calls to judge by, a p95 says little.
LEAST_CALLS, ENOUGH_CALLS = 20, 100


@dataclass(frozen=True, slots=True)
class Phase:
    """What a load reached. CPU in ms a call: of the hub's processes, and of PostgreSQL's."""

    asked: float
    reached: float
    calls: int
    writes: Timing | None
    reads: Timing | None
    errors: int
    hub_cpu: float
    database_cpu: float


@dataclass(frozen=True, slots=True)
class Measured:
    """`workers_memory`: of each process of the hub, the first is the one that starts the others.

    `disk_bytes` and `wal_bytes`: for each write. `hub_bytes`: the database before the load.
    """

    engine: str
    team: Team
    workers: int
    hub_bytes: int
    open: Phase
    closed: Phase
    workers_memory: list[Memory]
    hub_memory: Memory
    database_memory: Memory | None
    disk_bytes: float
    wal_bytes: float | None
    errors: list[str]


@dataclass(frozen=True)
class Place:
    """Databases of an engine, and the processes of its server if it has one."""

    engine: Engine
    factory: Databases
    server_pid: int | None = None

    def processes(self) -> list[psutil.Process]:
        return [*tree(self.server_pid)] if self.server_pid else []


@contextmanager
def place_of(engine: Engine) -> Iterator[Place]:
    """A server of PostgreSQL is always one of its own: that of DATABASE_URL may serve others."""
    if engine is Engine.SQLITE:
        with databases(engine) as factory:
            yield Place(engine, factory)
        return
    with temporary_server(SERVER_SETTINGS) as server, databases_of(server.url) as factory:
        yield Place(engine, factory, server.pid)


def filled(place: Place, *arguments: str) -> tuple[Hub, Any]:
    """A hub filled by a process of its own, and what that printed."""
    hub = place.factory.empty()
    command = [sys.executable, "-m", "benchmarks.sizing.filling", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=hub.environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return hub, json.loads(done.stdout)


def weigh(place: Place, rows: int) -> Mapping[str, int]:
    weights: Mapping[str, int] = filled(place, "--weigh", str(rows))[1]
    return weights


def measure(place: Place, team: Team, *, workers: int, months: float, seconds: float) -> Measured:
    """`seconds`: how long the team's rate lasts, up to three times as long where calls are few; as many calls
    as can be are made half as long."""
    lasts = max(seconds, min(3 * seconds, ENOUGH_CALLS / team.peak))
    hub, tokens = filled(place, str(team.people), str(months))
    hub_bytes = _stored_bytes(hub)
    with serving(hub, workers=workers) as server:
        load = Load([*agents_of(server, hub, team, months, tokens)])
        load.without_pause(4, WARM_UP_SECONDS)
        _flush(hub)
        wal, disk = _wal(hub), _written(server, place)
        opened, with_rate = _phase(server, place, team.peak, lambda: load.at_rate(team.peak, lasts))
        closed, at_most = _phase(server, place, 0, lambda: load.without_pause(CLIENTS, seconds / 2))
        writes = len(with_rate.writes) + len(at_most.writes)
        wal_after = _wal(hub)
        _flush(hub)
        disk_bytes = (_written(server, place) - disk) / writes
        ours, theirs = tree(server.process.pid), place.processes()
        return Measured(
            engine=hub.engine,
            team=team,
            workers=workers,
            hub_bytes=hub_bytes,
            open=opened,
            closed=closed,
            workers_memory=[memory_of(process) for process in ours],
            hub_memory=memory_of_all(ours),
            database_memory=memory_of_all(theirs) if theirs else None,
            disk_bytes=disk_bytes,
            wal_bytes=None if wal is None or wal_after is None else (wal_after - wal) / writes,
            errors=with_rate.errors + at_most.errors,
        )


def _phase(server: Server, place: Place, asked: float, run: Callable[[], Answered]) -> tuple[Phase, Answered]:
    def cpu() -> tuple[float, float]:
        theirs = place.processes()
        return cpu_seconds(tree(server.process.pid)), cpu_seconds(theirs) if theirs else 0.0

    before = cpu()
    answered = run()
    used = [1000 * (now - then) / answered.calls for now, then in zip(cpu(), before, strict=True)]
    phase = Phase(
        asked=asked,
        reached=answered.per_second,
        calls=answered.calls,
        writes=_timing(answered.writes),
        reads=_timing(answered.reads),
        errors=len(answered.errors),
        hub_cpu=used[0],
        database_cpu=used[1],
    )
    return phase, answered


def _timing(seconds: list[float]) -> Timing | None:
    return timing([seconds]) if len(seconds) >= LEAST_CALLS else None


def agents_of(server: Server, hub: Hub, team: Team, months: float, tokens: list[str]) -> Iterator[Agent]:
    """The team's agents, each connected with the token of its project."""
    keys = max(1, round(team.rows(months).decisions / team.projects))
    others = min(team.people, PEOPLE_PER_PROJECT) * AGENTS_PER_PERSON
    for number in range(team.agents):
        project = number % team.projects
        its = replace(server, hub=replace(hub, token=tokens[project], project=slug(project)))
        agent = Agent(
            agent_name(number // team.projects),
            its.connect_rest(),
            its.connect_mcp(Wire.INITIALIZED),
            keys,
            others,
            Random(number),
        )
        agent.prepare()
        yield agent


def _written(server: Server, place: Place) -> int:
    return written_bytes([*tree(server.process.pid), *place.processes()])


def _stored_bytes(hub: Hub) -> int:
    if hub.engine is Engine.SQLITE:
        return hub.file.stat().st_size
    return int(_asked(hub, "SELECT pg_database_size(current_database())"))


def _flush(hub: Hub) -> None:
    """Have PostgreSQL write the pages that were changed, so that only those of the load count as its."""
    if hub.engine is Engine.POSTGRES:
        with psycopg.connect(hub.url, autocommit=True) as connection:
            connection.execute("CHECKPOINT")


def _wal(hub: Hub) -> int | None:
    if hub.engine is Engine.SQLITE:
        return None
    return int(_asked(hub, "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"))


def _asked(hub: Hub, statement: str) -> Any:
    with psycopg.connect(hub.url) as connection:
        row = connection.execute(statement).fetchone()
        assert row is not None
        return row[0]
