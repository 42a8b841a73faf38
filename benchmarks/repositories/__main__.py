"""Quality of briefs on real commits: `python -m benchmarks.repositories --repositories FOLDER`.

The folder has the git directories of the repositories in `repositories.json`, named owner+name; what is
missing is said. `--engine postgres`; `--held-out` measures the tasks that are kept aside, `--both` all of
them; `--made` only counts what the repositories give, and `--write` notes it.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected
from benchmarks.repositories.commits import RepositoryTask
from benchmarks.repositories.git import Repository
from benchmarks.repositories.listing import Listed, read_listed, write_listed
from benchmarks.repositories.making import Made, make
from benchmarks.repositories.measuring import CONSTRAINT, Asked, Project, seed

Measure = Callable[[Asked], float | None]
"""A figure of a task; None where it does not apply."""

DECISIONS: Mapping[str, Measure] = {
    "brief 1500": lambda asked: asked.briefs[1_500].recall(asked.right),
    "with paths": lambda asked: asked.named[1_500].recall(asked.right),
    "brief 800": lambda asked: asked.briefs[800].recall(asked.right),
    "800 with paths": lambda asked: asked.named[800].recall(asked.right),
    "search, first 10": lambda asked: asked.search.recall(asked.right),
}
RULES: Mapping[str, Measure] = {
    "a rule in 1500": lambda asked: asked.briefs[1_500].holds(CONSTRAINT),
    "with paths": lambda asked: asked.named[1_500].holds(CONSTRAINT),
    "a rule in 800": lambda asked: asked.briefs[800].holds(CONSTRAINT),
    "has a rule of its paths": lambda asked: bool(asked.rules),
    "that in 1500": lambda asked: _has_rule(asked, asked.briefs[1_500].refs),
    "that with paths": lambda asked: _has_rule(asked, asked.named[1_500].refs),
    "that in check": lambda asked: _has_rule(asked, asked.check.refs),
    "of all those in check": lambda asked: asked.check.recall(asked.rules) if asked.rules else None,
}
SIZES: Mapping[str, Measure] = {
    "brief 1500": lambda asked: asked.briefs[1_500].tokens,
    "of memories": lambda asked: asked.briefs[1_500].memory_tokens / asked.briefs[1_500].tokens,
    "with paths": lambda asked: asked.named[1_500].tokens,
    "of memories with paths": lambda asked: asked.named[1_500].memory_tokens / asked.named[1_500].tokens,
    "brief 800": lambda asked: asked.briefs[800].tokens,
    "check": lambda asked: asked.check.tokens,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repositories")
    parser.add_argument(
        "--repositories", type=Path, required=True, help="a folder of git directories owner+name"
    )
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--only", action="append", help="a repository, as owner/name")
    parser.add_argument("--held-out", action="store_true", help="the tasks that are kept aside")
    parser.add_argument("--both", action="store_true", help="first the others, then those kept aside")
    parser.add_argument(
        "--misses", action="store_true", help="also the decisions and rules that are not given"
    )
    parser.add_argument("--made", action="store_true", help="only count what the repositories give")
    parser.add_argument("--write", action="store_true", help="note commits and counts in repositories.json")
    options = parser.parse_args()
    if options.misses and (options.held_out or options.both):
        parser.error("What is held out is not looked at.")
    if options.write and options.only:
        parser.error("The list is written whole.")
    listed = [one for one in read_listed() if not options.only or one.name.replace("+", "/") in options.only]
    made = {one: _make(one, repository) for one, repository in _opened(listed, options.repositories).items()}
    if options.write:
        write_listed([replace(one, figures=of.figures) for one, of in made.items()])
    if options.made or options.write:
        return
    with databases(options.engine) as factory, connected(factory.empty()):
        parts = [False, True] if options.both else [options.held_out]
        _measure({one.name: (one.slug, of) for one, of in made.items()}, parts, options.misses)


def _opened(listed: Sequence[Listed], folder: Path) -> dict[Listed, Repository]:
    found = {one: Repository(folder / one.name, one.commit) for one in listed}
    missing = [one for one, repository in found.items() if not repository.folder.is_dir()]
    if missing:
        clones = [f"git clone --bare {one.url} {folder / one.name}" for one in missing]
        raise SystemExit("\n".join(["Missing:", *clones]))
    for one, repository in found.items():
        if not repository.has_commit():
            raise SystemExit(f"{repository.folder} has no commit {one.commit}: git fetch {one.url}")
    return found


def _make(listed: Listed, repository: Repository) -> Made:
    made = make(repository)
    counts = ", ".join(f"{count} {name}" for name, count in made.figures.items())
    print(f"{listed.name}: {counts}", flush=True)
    if listed.figures and listed.figures != made.figures:
        print(f"    Otherwise than noted: {listed.figures}")
    return made


def _measure(made: Mapping[str, tuple[str, Made]], parts: Sequence[bool], shows_misses: bool) -> None:
    """`parts`: which tasks, by whether they are held out."""
    from django.core.management import call_command

    from benchmarks.seeding import tidy

    call_command("migrate", verbosity=0)
    started = time.perf_counter()
    projects = {name: seed(slug, of) for name, (slug, of) in made.items()}
    tidy()
    print(f"written: {time.perf_counter() - started:.0f} s", flush=True)
    for held_out in parts:
        _measure_part(projects, held_out, shows_misses)


def _measure_part(projects: Mapping[str, Project], held_out: bool, shows_misses: bool) -> None:
    asked = {name: _ask(project, project.made.tasks, held_out) for name, project in projects.items()}
    ruled = {name: _ask(project, project.made.rule_tasks, held_out) for name, project in projects.items()}
    print("\nHeld out." if held_out else "\nTuned.")
    _table("decisions: recall", asked, DECISIONS)
    _table("rules: share of these tasks", asked, RULES)
    _table("rules: share of the tasks of rules", ruled, RULES)
    _table("tokens, and the share", asked, SIZES)
    if shows_misses:
        for name, project in projects.items():
            _show_misses(project, [*asked[name], *ruled[name]])


def _ask(project: Project, tasks: Sequence[RepositoryTask], held_out: bool) -> list[Asked]:
    return [project.ask(task) for task in tasks if task.is_held_out == held_out]


def _table(title: str, asked: Mapping[str, Sequence[Asked]], measures: Mapping[str, Measure]) -> None:
    """A row of each repository, and one of all tasks."""
    print(f"\n{title} | tasks | {' | '.join(measures)}")
    print("---|---" + "|---" * len(measures))
    everything = [one for results in asked.values() for one in results]
    for name, results in {
        **{name: found for name, found in asked.items() if found},
        "**all**": everything,
    }.items():
        shown = " | ".join(_mean(map(measure, results)) for measure in measures.values())
        print(f"{name} | {len(results)} | {shown}", flush=True)


def _mean(figures: Iterable[float | None]) -> str:
    known = [figure for figure in figures if figure is not None]
    if not known:
        return "-"
    mean = fmean(known)
    return f"{mean:.0f}" if mean > 5 else f"{mean:.2f}"


def _has_rule(asked: Asked, refs: Sequence[str]) -> float | None:
    """Whether one of the most specific rules is there; None for a task without."""
    return float(bool(set(asked.rules) & set(refs))) if asked.rules else None


def _show_misses(project: Project, results: Sequence[Asked]) -> None:
    print(f"\nMissed in {project.caller.project.slug}:")
    for asked in results:
        lines = [
            *_missed("brief", asked.right, asked.briefs[1_500].refs),
            *_missed("brief with paths", asked.right, asked.named[1_500].refs),
            *_missed("search", asked.right, asked.search.refs),
        ]
        if _has_rule(asked, asked.check.refs) == 0:
            lines.append(f"check: one of {', '.join(asked.rules[:5])}")
        if lines:
            kind = "cites" if asked.right else "ruled"
            print(f"{kind} {asked.task.number:2} {asked.task.commit[:10]} {asked.task.with_paths}")
            print("".join(f"      {line}\n" for line in lines), end="")


def _missed(where: str, right: Sequence[str], given: Sequence[str]) -> list[str]:
    missed = [ref for ref in right if ref not in given]
    return [f"{where}: {', '.join(missed)}"] if missed else []


if __name__ == "__main__":
    main()
