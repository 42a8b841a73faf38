"""How long others wait to write while an export is imported.

    python -m benchmarks.import_waits [--engine postgres] [--decisions 10000] [--events 100000]

The seeded hub is exported with its log, and imported into a new project and into one that is there. Meanwhile
another process writes decisions, one after the other: into a project of its own and into the one that is
there. What it waits without an import stands first.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path

from benchmarks import machine
from benchmarks.databases import Engine, Hub, databases
from benchmarks.inside import connected
from benchmarks.seeded_hub import DECISIONS, EVENTS, seed
from benchmarks.seeding import tidy

SECONDS_BETWEEN_WRITES = 0.005
SECONDS_WITHOUT = 10.0
OTHER, NEW, THERE = "other", "new", "there"
Waits = Mapping[str, Sequence[float]]
"""The seconds of each write, by the slug of its project."""


def measure(hub: Hub, decisions: int, events: int) -> Iterator[str]:
    from django.core.management import call_command

    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.models import Project
    from ctxhub.core.transfer.exporting import lines_of
    from ctxhub.core.transfer.importing import Target, import_file

    call_command("migrate", verbosity=0)
    project = seed(decisions, events)
    for slug in (OTHER, THERE):
        create_project(slug=slug)
    tidy()
    path = hub.home / "export.jsonl"
    with path.open("wb") as file:
        file.writelines(lines_of(project, with_log=True))
    yield f"{path.stat().st_size / 2**20:.0f} MiB of {_count_lines(path) - 2:,} objects"
    there = Project.objects.get(slug=THERE)
    yield from _waited("without an import", lambda: time.sleep(SECONDS_WITHOUT))
    yield from _waited("into a new project", lambda: import_file(path, Target(slug=NEW)))
    yield from _waited("into one that is there", lambda: import_file(path, Target(there)))


def _waited(name: str, work: Callable[[], object]) -> Iterator[str]:
    from benchmarks.lock_times import recorded_holds

    with _writing() as stop, recorded_holds() as holds:
        began = time.perf_counter()
        work()
        seconds = time.perf_counter() - began
        waits = stop()
    held = f", which held the lock for {max(holds) * 1000:.0f} ms at most" if holds else ""
    yield f"{name}: {seconds:.1f} s{held}"
    yield from (f"  writes into {slug}: {_told(waits[slug])}" for slug in (OTHER, THERE))


def _told(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    p50, p99 = (ordered[int(len(ordered) * share)] * 1000 for share in (0.5, 0.99))
    return f"{len(ordered):,}, p50 {p50:.1f}, p99 {p99:.0f}, longest {ordered[-1] * 1000:.0f} ms"


@contextmanager
def _writing() -> Iterator[Callable[[], Waits]]:
    """A process that writes; what is yielded stops it, and returns how long it waited."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    stopped = spawn.Event()
    process = spawn.Process(target=_write, args=(there, stopped), daemon=True)
    process.start()
    here.recv()

    def stop() -> Waits:
        stopped.set()
        waits: Waits = here.recv()
        return waits

    yield stop
    process.join()


def _write(pipe: Connection, stopped: Event) -> None:
    """Write until it is stopped, in the database of the environment."""
    import django

    django.setup()
    from ctxhub.core.kit.caller import Caller
    from ctxhub.core.models import Project
    from memory.decisions.services import set_decision

    callers = [
        Caller(project=each, agent="writer") for each in Project.objects.filter(slug__in=(OTHER, THERE))
    ]
    waits: dict[str, list[float]] = {caller.project.slug: [] for caller in callers}
    for caller in callers:
        set_decision(caller=caller, key="first", value="x")  # What a process does once.
    pipe.send("ready")
    number = 0
    while not stopped.is_set():
        for caller in callers:
            began = time.perf_counter()
            set_decision(caller=caller, key=f"key/{number % 100}", value=str(number))
            waits[caller.project.slug].append(time.perf_counter() - began)
            time.sleep(SECONDS_BETWEEN_WRITES)
        number += 1
    pipe.send(waits)


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.import_waits")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--decisions", type=int, default=DECISIONS)
    parser.add_argument("--events", type=int, default=EVENTS)
    options = parser.parse_args()
    print(f"{options.engine}, load before {machine.load()}", flush=True)
    with databases(options.engine) as factory:
        hub = factory.empty()
        with connected(hub):
            for line in measure(hub, options.decisions, options.events):
                print(line, flush=True)
    print(f"load after {machine.load()}", flush=True)


if __name__ == "__main__":
    main()
