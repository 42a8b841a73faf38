"""Speed of the tool `search`: `python -m benchmarks.search_speed [--engine postgres] [--sql] [--top 25]`.

Questions of five words to 10,000 decisions of made-up prose, put to the tool in this process as an agent
would, each another. All runs put the same questions to the same rows and print a digest of the answers: two
builds that print the same have answered the same.
"""

import argparse
import cProfile
import gc
import hashlib
import json
import pstats
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, quantiles
from typing import TYPE_CHECKING, Any

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected
from benchmarks.machine import load
from benchmarks.prose import Prose

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

WARM_UP = 40
WORDS = 5
SHOWN = 110


@dataclass
class Timed:
    """Records the time of each statement by its text, as an `execute_wrapper` of Django."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        started = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            self.seconds[" ".join(sql.split())].append(time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search_speed")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sql", action="store_true", help="also the time of each statement")
    parser.add_argument("--top", type=int, default=0, help="print this many functions, by their own time")
    options = parser.parse_args()
    with databases(options.engine) as factory, connected(factory.empty(), web=True):
        caller = seed(options.size)
        print(
            f"{options.engine}, {options.size:,} decisions | p50 ms | p95 ms | CPU ms | statements | in them"
        )
        measure(caller, calls=options.calls, rounds=options.rounds, shows_sql=options.sql)
        if options.top:
            _profile(caller, questions(options.calls), options.top)


def seed(size: int) -> "Caller":
    """A caller of a new project with so many decisions, written as `benchmarks.brief_speed` writes them."""
    from dataclasses import replace

    from django.core.management import call_command

    from benchmarks.brief_speed import READER, _decisions
    from benchmarks.seeding import register, tidy
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller

    call_command("migrate", verbosity=0)
    caller = register(Caller(project=create_project(slug="bench"), agent=READER))
    _decisions([replace(caller, agent=f"agent-{number}") for number in range(8)], Prose(seed=6), size)
    tidy()
    return caller


def questions(count: int) -> list[str]:
    """Of the words of the rows, drawn as often as the rows have them; the same in every run."""
    prose = Prose(seed=6)
    prose.random.seed(7)
    return [" ".join(prose.word() for _ in range(WORDS)) for _ in range(count)]


def measure(caller: "Caller", *, calls: int, rounds: int, shows_sql: bool = False) -> None:
    """Print a line for each round of so many questions, all of them new."""
    asked = questions(WARM_UP + rounds * calls)
    for question in asked[:WARM_UP]:
        ask(caller, question)
    gc.freeze()
    for number in range(rounds):
        of_round = asked[WARM_UP + number * calls :][:calls]
        walls, cpu, digest = _round(caller, of_round)
        statements = _statements(caller, of_round)
        spent = sum(map(sum, statements.values())) / calls * 1000
        times = sum(map(len, statements.values())) / calls
        print(
            f"load {load()}, answers {digest} | {median(walls):.2f} | "
            f"{quantiles(walls, n=20)[-1]:.2f} | {cpu:.2f} | {times:.1f} | {spent:.2f}",
            flush=True,
        )
    if shows_sql:
        _show(statements, calls)


def ask(caller: "Caller", question: str) -> dict[str, Any]:
    from ctxhub.toolbox import dispatch

    return dispatch.call(caller, "search", {"query": question})


def _round(caller: "Caller", asked: Sequence[str]) -> tuple[list[float], float, str]:
    """The milliseconds of each call, those of this process's CPU in the mean, and a digest of the answers."""
    walls, answers = [], []
    cpu = time.process_time()
    for question in asked:
        started = time.perf_counter()
        answers.append(ask(caller, question))
        walls.append((time.perf_counter() - started) * 1000)
    cpu = (time.process_time() - cpu) / len(asked) * 1000
    text = json.dumps(answers, sort_keys=True)
    return walls, cpu, hashlib.sha256(text.encode()).hexdigest()[:12]


def _statements(caller: "Caller", asked: Sequence[str]) -> dict[str, list[float]]:
    """The seconds of each statement by its text, without the values: in calls that are not timed."""
    from django.db import connection

    timed = Timed()
    with connection.execute_wrapper(timed):
        for question in asked:
            ask(caller, question)
    return timed.seconds


def _show(statements: dict[str, list[float]], calls: int) -> None:
    for text, seconds in sorted(statements.items(), key=lambda each: -sum(each[1])):
        print(f"    {len(seconds) / calls:.2f} a call, {fmean(seconds) * 1000:.2f} ms: {text[:SHOWN]}")


def _profile(caller: "Caller", asked: Sequence[str], top: int) -> None:
    profile = cProfile.Profile(time.process_time)
    profile.enable()
    for question in asked:
        ask(caller, question)
    profile.disable()
    pstats.Stats(profile).strip_dirs().sort_stats("tottime").print_stats(top)


if __name__ == "__main__":
    main()
