"""Speed of finding similar memories: `python -m benchmarks.similarity [--engine postgres]`.

100,000 memories in one project, or as many in several (`--projects 50`), searched through the service.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected
from benchmarks.prose import Prose

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller
    from memory.memories.rows import MemoryRow

BATCH = 250
CONTEXTS = 20
RELATED = 3


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.similarity")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--projects", type=int, default=1)
    parser.add_argument("--calls", type=int, default=100)
    options = parser.parse_args()
    prose = Prose(seed=5)
    with databases(options.engine) as factory, connected(factory.empty()):
        callers = _fill(prose, options.size, options.projects)
        _report(prose, callers, options.calls)


def _fill(prose: Prose, size: int, projects: int) -> dict["Caller", list[int]]:
    """Write the memories; return their ids by caller. One in ten is related to RELATED others."""
    from django.core.management import call_command

    from benchmarks.seeding import tidy
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller
    from memory.relationships.services import relate

    call_command("migrate", verbosity=0)
    callers: dict[Caller, list[int]] = {}
    started = time.perf_counter()
    for number in range(projects):
        caller = Caller(project=create_project(slug=f"bench-{number}"), agent="bench")
        callers[caller] = _write(caller, prose, size // projects)
        for place in range(0, min(len(callers[caller]) - RELATED, 1_000), 10):
            source, *others = callers[caller][place : place + RELATED + 1]
            for other in others:
                relate(caller=caller, source=str(source), target=str(other))
    print(
        f"wrote {size:,} memories in {projects} projects: {time.perf_counter() - started:.0f} s", flush=True
    )
    tidy()
    return callers


def _write(caller: "Caller", prose: Prose, count: int) -> list[int]:
    from ctxhub.core.kit import clock
    from ctxhub.core.kit.transactions import write_transaction
    from memory.contexts.services import create_context
    from memory.memories.history import HISTORY
    from memory.memories.rows import MEMORIES

    contexts = [create_context(caller=caller, name=f"{prose.word()} {n}") for n in range(CONTEXTS)]
    ids: list[int] = []
    for at in range(0, count, BATCH):
        rows = [
            _memory(prose, contexts[n % CONTEXTS], clock.now()) for n in range(at, min(at + BATCH, count))
        ]
        with write_transaction(caller.project_id):
            stored = MEMORIES.insert(caller.project_id, rows)
            changes = [HISTORY.change(None, row) for row in stored]
            HISTORY.record(project_id=caller.project_id, agent_id=None, changes=changes, at=clock.now())
        ids += [row.id for row in stored]
    return ids


def _memory(prose: Prose, context: Any, at: Any) -> "MemoryRow":
    from memory.memories.rows import MemoryRow

    return MemoryRow(
        title=" ".join(prose.word() for _ in range(5)),
        context=context["name"],
        context_id=context["id"],
        digest="",
        tokens=0,
        type=1,
        agent="bench",
        agent_id=None,
        created_at=at,
        updated_at=at,
        content=f"{prose.text()}\n\n{prose.text()}",
    )


def _report(prose: Prose, callers: dict["Caller", list[int]], calls: int) -> None:
    from memory.capture.services import capture
    from memory.contexts.suggest import suggest_context
    from memory.memories.search import search_memories
    from memory.memories.services import add_memory
    from memory.memories.similar import list_similar
    from memory.relationships.services import find_relationships

    everyone = list(callers)

    def timed(name: str, call: Callable[["Caller", int], object]) -> None:
        times = []
        for number in range(calls):
            caller = everyone[number % len(everyone)]
            row_id = callers[caller][number * 97 % len(callers[caller])]
            started = time.perf_counter()
            call(caller, row_id)
            times.append((time.perf_counter() - started) * 1000)
        print(f"{name}: p50 {median(times):.1f} ms, p95 {quantiles(times, n=20)[-1]:.1f} ms", flush=True)

    timed("similar to a memory", lambda caller, row: list_similar(caller.project_id, memory_id=row))
    timed("similar to a text", lambda caller, row: list_similar(caller.project_id, text=prose.text()))
    timed(
        "relationships, depth 2",
        lambda caller, row: find_relationships(caller=caller, memory_id=row, depth=2),
    )
    timed("suggest_context", lambda caller, row: suggest_context(caller.project_id, prose.text()))
    timed("capture, dry", lambda caller, row: capture(caller=caller, content=prose.text(), dry_run=True))
    timed("search", lambda caller, row: search_memories(caller.project_id, query=prose.word()))
    timed("add", lambda caller, row: add_memory(caller=caller, title=prose.word(), content=prose.text()))


if __name__ == "__main__":
    main()
