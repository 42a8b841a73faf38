"""Speed of search and size of its index: `python -m benchmarks.searching [--engine postgres]`.

100,000 decisions in 50 projects, written through the service; questions are put to the service, too.
"""

import argparse
import time
from collections.abc import Callable
from contextlib import nullcontext
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected
from benchmarks.prose import Prose

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

BATCH = 50


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.searching")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--projects", type=int, default=50)
    parser.add_argument("--calls", type=int, default=100)
    options = parser.parse_args()
    prose = Prose(seed=5)
    with databases(options.engine) as factory, connected(factory.empty()):
        callers, raw = _fill(prose, options.size, options.projects)
        _report_size(options.engine, raw)
        _report_speed(prose, callers, options.calls)
        _report_writing(prose, callers[0], options.calls)


def _fill(prose: Prose, size: int, projects: int) -> tuple[list["Caller"], int]:
    """Write the decisions; return a caller for each project and the bytes of text."""
    from django.core.management import call_command

    from benchmarks.seeding import tidy
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller
    from memory.decisions.services import set_decision_batch

    call_command("migrate", verbosity=0)
    callers = [
        Caller(project=create_project(slug=f"bench-{number}"), agent="bench") for number in range(projects)
    ]
    raw, started = 0, time.perf_counter()
    for at in range(0, size // projects, BATCH):
        for caller in callers:
            items = [_decision(prose, at + place) for place in range(BATCH)]
            raw += sum(len(f"{item['key']}{item['value']}{''.join(item['tags'])}".encode()) for item in items)
            set_decision_batch(caller=caller, items=items)
    print(
        f"wrote {size:,} decisions in {projects} projects: {time.perf_counter() - started:.0f} s", flush=True
    )
    tidy()
    return callers, raw


def _decision(prose: Prose, number: int) -> dict[str, Any]:
    key = f"{prose.word()}/{prose.word()}/{number}"
    return {"key": key, "value": prose.text(), "tags": sorted({prose.word(), prose.word()})}


def _report_size(engine: Engine, raw: int) -> None:
    from ctxhub.core.kit import sql

    [(words, scope)] = (
        sql.rows("SELECT sum(octet_length(words)), sum(octet_length(scope)) FROM core_searchtext")
        if (engine is Engine.POSTGRES)
        else sql.rows("SELECT sum(length(CAST(words AS BLOB))), sum(length(scope)) FROM core_searchtext")
    )
    if engine is Engine.POSTGRES:
        [(index,)] = sql.rows("SELECT pg_relation_size('core_searchtext_vector')")
    else:
        [(index,)] = sql.rows("SELECT sum(length(block)) FROM core_searchfts_data")
    text = int(words) + int(scope)
    print(f"raw text {raw:,} bytes; search text {text / raw:.2f} of it, index {int(index) / raw:.2f}")


def _report_speed(prose: Prose, callers: list["Caller"], calls: int) -> None:
    from ctxhub.core.search.search import search

    def mistyped() -> str:
        words = [prose.word() for _ in range(4)]
        longest = max(words, key=len)
        return " ".join([*words, f"{longest[:2]}z{longest[2:]}"])

    questions: dict[str, tuple[Callable[[], str], str]] = {
        "5 words": (lambda: " ".join(prose.word() for _ in range(5)), "auto"),
        "5 words, one mistyped": (mistyped, "auto"),
        "2 words, all": (lambda: f"{prose.word()} {prose.word()}", "all"),
        "2 Chinese characters": (lambda: prose.han(2), "auto"),
        "12 Chinese characters": (lambda: prose.han(12), "auto"),
        "prefix of 3 letters": (lambda: f"{prose.word()[:3]}*", "auto"),
        "a text of 60 words, similar": (prose.text, "similar"),
    }
    for name, (make, match) in questions.items():
        times = []
        for number in range(calls):
            project, question = callers[number % len(callers)].project_id, make()
            started = time.perf_counter()
            search(project, question, match=match)
            times.append((time.perf_counter() - started) * 1000)
        print(f"{name}: p50 {median(times):.2f} ms, p95 {quantiles(times, n=20)[-1]:.2f} ms", flush=True)


def _report_writing(prose: Prose, caller: "Caller", calls: int) -> None:
    """Time the same writes with and without the index, in turns."""
    from memory.decisions.services import set_decision

    took: dict[bool, list[float]] = {True: [], False: []}
    for number in range(2 * calls):
        is_indexed = number % 2 == 0
        key, value = f"new/{number}", prose.text()
        with nullcontext() if is_indexed else patch("ctxhub.core.history.index_documents"):
            started = time.perf_counter()
            set_decision(caller=caller, key=key, value=value)
            took[is_indexed].append((time.perf_counter() - started) * 1000)
    with_index, without = median(took[True]), median(took[False])
    print(f"set of a new decision: {with_index:.2f} ms, {without:.2f} ms without the index")


if __name__ == "__main__":
    main()
