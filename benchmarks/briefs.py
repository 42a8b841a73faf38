"""Quality of briefs: `python -m benchmarks.briefs [--engine postgres] [--misses]`.

Tasks whose right rows are known, in a project of 2,000 mixed rows. Recall: the share of the right rows that
an agent gets, from a brief of 800 and of 1,500 tokens, from the first ten hits of a search for the task, and
from the newest rows in 1,500 tokens. Two thirds of the tasks are measured; `--held-out` measures the others,
which are not looked at while a brief is tuned. `--size 10000` measures the time instead.
"""

import argparse
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, quantiles
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected, has_tool
from benchmarks.tasks.reading import read_rows, read_tasks
from benchmarks.tasks.rows import Noun, Task, TaskRow
from benchmarks.tasks.writing import AGENT, CLOCK, NOW, moments_of, write_team

if TYPE_CHECKING:
    from ctxhub.core.kit.caller import Caller

BUDGETS = (800, 1_500)
NEWEST_TOKENS = 1_500
HITS = 10
EXCERPT = 200
PATH = re.compile(r"[\w.-]+/[\w./-]+")
CHINESE = re.compile(r"[一-鿿]")
GERMAN = re.compile(r"\b(der|die|das|und|nicht|ein|eine|einen|ist|mit|im|was|seit|bitte)\b")


@dataclass(frozen=True, slots=True)
class Given:
    """What an agent is given for a task: the refs of the rows, the tokens of the answer, the time it took."""

    refs: tuple[str, ...]
    tokens: int
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """A task and what was given for it. `right`: the refs of its right rows."""

    task: Task
    right: tuple[str, ...]
    given: Given

    @property
    def recall(self) -> float:
        return len(set(self.right) & set(self.given.refs)) / len(self.right)

    @property
    def missed(self) -> list[str]:
        return [ref for ref in self.right if ref not in self.given.refs]


Way = Callable[[str], Given]
"""What an agent gets for the text of a task."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.briefs")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--held-out", action="store_true", help="the tasks that are kept aside")
    parser.add_argument("--misses", action="store_true", help="also the right rows that a brief leaves out")
    parser.add_argument("--size", type=int, help="measure the time, with this many rows of each noun")
    options = parser.parse_args()
    if options.misses and options.held_out:
        parser.error("What is held out is not looked at.")
    if options.size:
        from benchmarks.brief_speed import measure_speed

        measure_speed(options.engine, options.size)
        return
    with databases(options.engine) as factory, connected(factory.empty()):
        _measure(options.held_out, shows_misses=options.misses)


def _measure(held_out: bool, *, shows_misses: bool) -> None:
    rows, tasks = read_rows(), [task for task in read_tasks() if task.is_held_out == held_out]
    caller, refs = seed_team(rows)
    results: dict[str, list[Result]] = {}
    with patch(CLOCK, return_value=NOW):
        for name, way in _ways(caller, rows, refs).items():
            results[name] = [_ask(way, task, refs) for task in tasks]
        _report(results)
        for name in (name for name in results if name.startswith("brief")):
            _report_opening(caller, name, results[name])
    if shows_misses:
        _show_misses(next(iter(results.values())), {ref: row_id for row_id, ref in refs.items()})


def seed_team(rows: Sequence[TaskRow]) -> tuple["Caller", dict[str, str]]:
    """A new project with the rows, and the ref of each row by its id."""
    from django.core.management import call_command

    from benchmarks.seeding import tidy
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller

    call_command("migrate", verbosity=0)
    caller = Caller(project=create_project(slug="shop"), agent=AGENT)
    started = time.perf_counter()
    right = {row_id for task in read_tasks() for row_id in task.right}
    refs = write_team(caller, rows, right)
    print(f"wrote {len(refs):,} rows: {time.perf_counter() - started:.0f} s", flush=True)
    tidy()
    return caller, refs


# -- What an agent is given ------------------------------------------------------------------------


def _ways(caller: "Caller", rows: Sequence[TaskRow], refs: Mapping[str, str]) -> dict[str, Way]:
    ways: dict[str, Way] = {}
    if has_tool("brief"):
        changes = {f"resource:{row.title}": refs[row.id] for row in rows if row.noun is Noun.CHANGE}
        ways |= {f"brief {budget}": _brief(caller, budget, changes) for budget in BUDGETS}
    else:
        print("There is no tool `brief` yet: only what it is compared with is measured.")
    newest = _newest(rows, refs)
    return {**ways, f"search, first {HITS}": _search(caller), "newest rows": lambda task: newest}


def _brief(caller: "Caller", budget: int, changes: Mapping[str, str]) -> Way:
    """`changes`: the ref of the last change of a file by the file's, under which a brief lists it."""

    def brief(task: str) -> Given:
        answer, given = _timed(caller, "brief", {"task": task, "budget_tokens": budget})
        refs = [changes.get(ref, ref) for section in answer["sections"] for ref in _refs(section)]
        return Given(tuple(dict.fromkeys(refs)), *given)

    return brief


def _search(caller: "Caller") -> Way:
    def search(task: str) -> Given:
        answer, given = _timed(caller, "search", {"query": task, "limit": HITS})
        return Given(tuple(_refs(answer)), *given)

    return search


def _timed(
    caller: "Caller", tool: str, arguments: dict[str, Any]
) -> tuple[dict[str, Any], tuple[int, float]]:
    """The answer of a call as it is sent; its tokens, and the milliseconds it took."""
    import json

    from ctxhub.core.text.token_count import count_tokens
    from ctxhub.toolbox import dispatch

    started = time.perf_counter()
    text = dispatch.as_text(dispatch.call(caller, tool, arguments))
    took = (time.perf_counter() - started) * 1000
    return json.loads(text), (count_tokens(text), took)


def _refs(table: Mapping[str, Any]) -> Iterator[str]:
    """The refs of an answer's rows; a table without rows has no columns either."""
    if table["rows"]:
        place = table["columns"].index("ref")
        yield from (row[place] for row in table["rows"])


def _newest(rows: Sequence[TaskRow], refs: Mapping[str, str]) -> Given:
    """As many of the newest rows as fit, each with its ref and the beginning of its text, as in lists."""
    from ctxhub.core.text.token_count import count_tokens
    from ctxhub.toolbox.dispatch import as_text

    chosen: list[list[str]] = []
    tokens = 0
    for _, row in reversed(moments_of(rows)):
        more = [*chosen, [refs[row.id], f"{row.title} {row.text}"[:EXCERPT]]]
        cost = count_tokens(as_text({"columns": ["ref", "text"], "rows": more}))
        if cost > NEWEST_TOKENS:
            break
        chosen, tokens = more, cost
    return Given(tuple(ref for ref, _ in chosen), tokens)


def _ask(way: Way, task: Task, refs: Mapping[str, str]) -> Result:
    return Result(task, tuple(refs[row_id] for row_id in task.right), way(task.text))


# -- Reports ---------------------------------------------------------------------------------------


def _report(results: Mapping[str, Sequence[Result]]) -> None:
    print("\nway | tasks | recall | all found | tokens | p50 ms | p95 ms")
    print("---|---|---|---|---|---|---")
    for name, found in results.items():
        times = [result.given.milliseconds for result in found]
        shown = [
            f"{fmean(result.recall for result in found):.3f}",
            f"{fmean(result.recall == 1 for result in found):.3f}",
            f"{fmean(result.given.tokens for result in found):.0f}",
            f"{median(times):.1f}",
            f"{quantiles(times, n=20)[-1]:.1f}",
        ]
        print(f"{name} | {len(found)} | {' | '.join(shown)}", flush=True)
    _table("kind of task", {name: _by_task(found) for name, found in results.items()})
    _table("noun", {name: _by_noun(found) for name, found in results.items()})


def _by_task(results: Sequence[Result]) -> dict[str, list[float]]:
    """The recall of the tasks, by their language and whether they name a path."""
    grouped: dict[str, list[float]] = {}
    for result in results:
        for name in _kinds(result.task.text):
            grouped.setdefault(name, []).append(result.recall)
    return dict(sorted(grouped.items()))


def _kinds(text: str) -> Iterator[str]:
    language = "Chinese" if CHINESE.search(text) else "German" if GERMAN.search(text) else "English"
    yield language
    yield "names a path" if PATH.search(text) else "names no path"


def _by_noun(results: Sequence[Result]) -> dict[str, list[float]]:
    """Whether each right row was found, by its noun."""
    found: dict[str, list[float]] = {noun.value: [] for noun in Noun}
    for result in results:
        for ref in result.right:
            found[ref.partition(":")[0]].append(ref in result.given.refs)
    return found


def _table(title: str, columns: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    first = next(iter(columns.values()))
    print(f"\n{title} | number | {' | '.join(columns)}")
    print("---|---" + "|---" * len(columns))
    for line in (line for line in first if first[line]):
        shown = " | ".join(f"{fmean(column[line]):.3f}" for column in columns.values())
        print(f"{line} | {len(first[line])} | {shown}", flush=True)


def _report_opening(caller: "Caller", name: str, results: Sequence[Result]) -> None:
    """The tokens of the briefs beside those of opening the same rows one by one."""
    opened = [sum(_opening(caller, ref) for ref in result.given.refs) for result in results]
    brief = fmean(result.given.tokens for result in results)
    rows = fmean(len(result.given.refs) for result in results)
    print(f"{name}: {brief:.0f} tokens for {rows:.0f} rows; opened one by one with get {fmean(opened):.0f}")


def _opening(caller: "Caller", ref: str) -> int:
    _, (tokens, _) = _timed(caller, "get", {"refs": [ref]})
    return tokens


def _show_misses(results: Sequence[Result], ids: Mapping[str, str]) -> None:
    print("\nMissed:")
    for result in results:
        if result.missed:
            missed = ", ".join(f"{ref} ({ids[ref]})" for ref in result.missed)
            print(f"{result.task.number:3} {result.recall:.2f} {result.task.text}\n      {missed}")


if __name__ == "__main__":
    main()
