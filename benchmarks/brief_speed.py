"""Speed of briefs, checks, nudges, and of recording what was given: `python -m benchmarks.briefs --size N`.

N rows of each noun, bulk-written through their histories, so that index, counters, paths and events are those
of a project in use. What a build does not have is skipped, and the report says so.
"""

import gc
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected, has_tool
from benchmarks.machine import load
from benchmarks.prose import Prose

if TYPE_CHECKING:
    from ctxhub.core.history import History
    from ctxhub.core.kit.caller import Caller
    from ctxhub.core.kit.rows import Table

BATCH = 250
BATCHES_IN_A_TRANSACTION = 8
# Decisions and constraints that have paths: the rest of a large project is about no file.
WITH_PATHS = 10_000
CALLS = 60
WARM_UP = 5
GETS = 400
TASK_WORDS = 12
LAYERS = ("business", "data", "infrastructure", "presentation")
AGE = timedelta(days=60)
FOLDERS = tuple(f"src/{area}/{part}" for area in "abcdefghijklmnopqrst" for part in range(50))
READER = "bench"


@dataclass(frozen=True, slots=True)
class Took:
    """Milliseconds of a call, by the clock and of this process's CPU, which other load changes little."""

    wall: float
    cpu: float


def measure_speed(engine: Engine, size: int) -> None:
    prose = Prose(seed=6)
    with databases(engine) as factory, connected(factory.empty(), web=True):
        caller, refs = _seed(prose, size)
        print(f"\nload {load()} before; {engine}, {size:,} rows a noun | p50 ms | p95 ms | CPU ms")
        print("---|---|---|---")
        parts: dict[str, Callable[[], None]] = {
            "briefs": lambda: _briefs(caller, prose),
            "checks": lambda: _checks(caller, prose),
            "nudges": lambda: _nudges(caller),
            "gets": lambda: _gets(caller, refs),
        }
        for name, measure in parts.items():
            try:
                measure()
            except Exception as error:  # One part that fails does not end the others.
                print(f"{name} | {type(error).__name__}: {str(error)[:100]} | - | -", flush=True)


# -- Rows ------------------------------------------------------------------------------------------


def _seed(prose: Prose, size: int) -> tuple["Caller", Sequence[str]]:
    """A caller of a new project with the rows, and the refs of some memories."""
    from dataclasses import replace

    from django.core.management import call_command

    from benchmarks.seeding import register, tidy
    from benchmarks.seeding_work import seed_work
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller

    call_command("migrate", verbosity=0)
    started = time.perf_counter()
    caller = register(Caller(project=create_project(slug="bench"), agent=READER))
    team = [replace(caller, agent=f"agent-{number}") for number in range(8)]
    _decisions(team, prose, size)
    _constraints(caller, prose, size)
    memory_ids = _memories(caller, prose, size)
    _snapshots(caller, prose, size)
    seed_work([*team, caller], size, LAYERS)
    tidy()
    print(f"wrote {size:,} rows of each noun: {time.perf_counter() - started:.0f} s", flush=True)
    return caller, [f"memory:{row_id}" for row_id in memory_ids[:: max(len(memory_ids) // GETS, 1)]]


def _decisions(team: Sequence["Caller"], prose: Prose, size: int) -> None:
    from ctxhub.core.kit.transactions import write_transaction
    from memory.decisions.services import set_decision_batch

    width = 50
    for first in range(0, size, width * BATCHES_IN_A_TRANSACTION):
        with write_transaction(team[0].project_id):
            for at in range(first, min(first + width * BATCHES_IN_A_TRANSACTION, size), width):
                items = [_decision(prose, number) for number in range(at, min(at + width, size))]
                set_decision_batch(caller=team[at // width % len(team)], items=items)


def _decision(prose: Prose, number: int) -> dict[str, Any]:
    item = {"key": f"{prose.word()}/{number}", "value": prose.text(), "layer": LAYERS[number % 4]}
    return {**item, "paths": _paths(number)} if number < WITH_PATHS else item


def _paths(number: int) -> list[str]:
    folder = FOLDERS[number * 7 % len(FOLDERS)]
    return [f"{folder}/**"] if number % 3 else [f"{folder}/module_{number}.py", f"{folder}/*.sql"]


def _constraints(caller: "Caller", prose: Prose, size: int) -> None:
    """The first from the service: it registers the category. Each has a layer, paths, or both."""
    from dataclasses import replace

    from memory.constraints.history import HISTORY
    from memory.constraints.queries import get_constraint
    from memory.constraints.rows import CONSTRAINTS
    from memory.constraints.services import add_constraint

    added = add_constraint(caller=caller, category="performance", text=prose.text(), layer="data")
    first = get_constraint(caller.project_id, added["id"])

    def row(number: int) -> Any:
        return replace(
            first,
            id=0,
            text=f"{prose.text()} {number}",
            priority=1 + number % 3,
            paths=_paths(number) if number < WITH_PATHS else (),
        )

    _insert(caller, CONSTRAINTS, HISTORY, size, row)


def _memories(caller: "Caller", prose: Prose, size: int) -> list[int]:
    from dataclasses import replace

    from memory.memories.history import HISTORY
    from memory.memories.queries import get_memory
    from memory.memories.rows import MEMORIES
    from memory.memories.services import add_memory

    added = add_memory(caller=caller, title=prose.word(), content=prose.text())
    first = get_memory(caller.project_id, added["id"])

    def row(number: int) -> Any:
        title = " ".join(prose.word() for _ in range(5))
        return replace(first, id=0, title=title, content=f"{prose.text()} {number}")

    return _insert(caller, MEMORIES, HISTORY, size, row)


def _snapshots(caller: "Caller", prose: Prose, size: int) -> None:
    from ctxhub.core.kit import clock
    from memory.snapshots.history import HISTORY
    from memory.snapshots.rows import SNAPSHOTS, SnapshotRow

    now = clock.now()

    def row(number: int) -> SnapshotRow:
        at = now - AGE * (number / size)
        summary = " ".join(prose.word() for _ in range(8))
        return SnapshotRow(
            summary=summary, content=prose.text(), agent=READER, agent_id=None, created_at=at, updated_at=at
        )

    _insert(caller, SNAPSHOTS, HISTORY, size, row)


def _insert(
    caller: "Caller",
    table: "Table[Any]",
    history: "History[Any]",
    size: int,
    row: Callable[[int], Any],
) -> list[int]:
    """Insert the rows as their service does, many at a time; returns their ids."""
    from ctxhub.core.kit import clock
    from ctxhub.core.kit.transactions import write_transaction

    ids: list[int] = []
    for first in range(0, size, BATCH):
        rows = [row(number) for number in range(first, min(first + BATCH, size))]
        with write_transaction(caller.project_id):
            stored = table.insert(caller.project_id, rows)
            changes = [history.change(None, new) for new in stored]
            history.record(project_id=caller.project_id, agent_id=None, changes=changes, at=clock.now())
        ids += [new.id for new in stored]
    return ids


# -- Measurements ----------------------------------------------------------------------------------


def _briefs(caller: "Caller", prose: Prose) -> None:
    def task() -> str:
        return " ".join(prose.word() for _ in range(TASK_WORDS))

    _time(caller, "brief, 1,500 tokens", "brief", lambda number: {"task": task()})
    _time(
        caller,
        "brief, with a path",
        "brief",
        lambda number: {"task": f"{task()} {FOLDERS[number * 31 % len(FOLDERS)]}/module_{number}.py"},
    )
    _time(caller, "brief, without a task", "brief", lambda number: {})


def _checks(caller: "Caller", prose: Prose) -> None:
    def files(number: int, count: int) -> list[str]:
        return [f"{FOLDERS[(number * 31 + n) % len(FOLDERS)]}/module_{number}.py" for n in range(count)]

    _time(caller, "check of a file", "check", lambda number: {"paths": files(number, 1)})
    _time(caller, "check of 20 files", "check", lambda number: {"paths": files(number, 20)})
    _time(caller, "check of a glob", "check", lambda number: {"paths": [f"src/{'abcdef'[number % 6]}/**"]})
    _time(
        caller,
        "check with an intent",
        "check",
        lambda number: {"paths": files(number, 1), "intent": f"{prose.word()} {prose.word()}"},
    )


def _time(caller: "Caller", name: str, tool: str, arguments: Callable[[int], dict[str, Any]]) -> None:
    """Print how long calls take, each with other arguments. What exists is frozen, as in the servers."""
    from ctxhub.toolbox import dispatch

    if not has_tool(tool):
        print(f"{name} | no tool `{tool}` | - | -", flush=True)
        return
    gc.freeze()
    times = [
        _timed(partial(dispatch.call, caller, tool, arguments(number))) for number in range(WARM_UP + CALLS)
    ]
    _print(name, times[WARM_UP:])


def _nudges(caller: "Caller") -> None:
    """Over REST in this process, since it has no tool; beside `me`, which does no work of its own."""
    from django.test import Client

    from ctxhub.core.accounts.access_tokens import create_token

    token = create_token(project=caller.project, name="bench", agent=READER).secret
    logging.getLogger("django.request").setLevel(logging.ERROR)
    client = Client(headers={"authorization": f"Bearer {token}", "host": "localhost"})
    for name, address in {
        "nudge": f"/api/v1/projects/{caller.project.slug}/nudge/?format=text",
        "me": "/api/v1/me/",
    }.items():
        if (status := client.get(address).status_code) not in {200, 204}:
            print(f"{name} | answers {status} | - | -", flush=True)
            continue
        _print(f"{name}, over REST", [_timed(partial(client.get, address)) for _ in range(CALLS)])


def _gets(caller: "Caller", refs: Sequence[str]) -> None:
    """`get` of one memory with and without recording what was given, in turns."""
    from ctxhub.core.accounts.config import set_config
    from ctxhub.core.kit.errors import InvalidInput
    from ctxhub.toolbox import dispatch

    times: dict[bool, list[Took]] = {True: [], False: []}
    try:
        set_config(caller=caller, values={"record_given": True})
    except InvalidInput:
        print("get, recorded | no setting `record_given` | - | -", flush=True)
        return
    for turn in range(20):
        is_recorded = turn % 2 == 0
        set_config(caller=caller, values={"record_given": is_recorded})
        for place, ref in enumerate(refs[:GETS]):
            took = _timed(partial(dispatch.call, caller, "get", {"refs": [ref]}))
            if place >= WARM_UP:
                times[is_recorded].append(took)
    _print("get, recorded", times[True])
    _print("get, not recorded", times[False])
    with_it, without = (median(took.wall for took in times[recorded]) for recorded in (True, False))
    print(f"get: {with_it - without:+.3f} ms by recording what was given")


def _timed(call: Callable[[], object]) -> Took:
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return Took((time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000)


def _print(name: str, times: Sequence[Took]) -> None:
    walls = [took.wall for took in times]
    cpu = median(took.cpu for took in times)
    print(f"{name} | {median(walls):.2f} | {quantiles(walls, n=20)[-1]:.2f} | {cpu:.2f}", flush=True)
