"""How well search answers in small projects: `python -m benchmarks.question_sets [--engine postgres]`.

Each set asks for something else, and each of its hubs is a project of its own. Two thirds of the
questions are asked; `--aside` asks the others, which nobody looks at while tuning. `must`: the share with an
answer first, of those questions where only the first hit counts.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from django.core.management import call_command

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected
from benchmarks.questions.hubs import HubQuestion, HubRows, read_set, set_names
from benchmarks.questions.reading import with_typo
from benchmarks.row_writing import write_rows
from benchmarks.scoring import DEEPEST, recall, reciprocal_rank

SEED = 11


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was typed, and what was found; hits that are no rows of the hub take a place, too."""

    question: HubQuestion
    typed: str
    found: Sequence[str]

    @property
    def is_first(self) -> bool:
        return bool(self.found) and self.found[0] in self.question.answers


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.question_sets")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--aside", action="store_true", help="ask the questions that are set aside")
    parser.add_argument("--set", dest="sets", action="append", choices=set_names(), help="only this one")
    parser.add_argument("--misses", action="store_true", help="also what has no answer where it must be")
    said = parser.parse_args()
    if said.misses and said.aside:
        parser.error("What is set aside is not looked at.")
    with databases(said.engine) as made, connected(made.empty()):
        call_command("migrate", verbosity=0)
        print("set | asked | questions | recall@5 | recall@10 | MRR | first | must")
        print("---|---|---|---|---|---|---|---")
        for name in said.sets or set_names():
            clean, mistyped = ask_set(name, aside=said.aside)
            _report(f"{name} | clean", clean)
            _report(f"{name} | one typo", mistyped)
            if said.misses:
                _show_misses(clean)


def ask_set(name: str, *, aside: bool) -> tuple[list[Asked], list[Asked]]:
    """The questions of all its hubs, as they are and with one typo each."""
    clean: list[Asked] = []
    mistyped: list[Asked] = []
    for hub in read_set(name):
        search = _search_of(name, hub)
        for question in (one for one in hub.questions if one.is_aside == aside):
            typed = with_typo(question.text, SEED)
            clean.append(Asked(question, question.text, search(question.text)))
            mistyped.append(Asked(question, typed, search(typed)))
    return clean, mistyped


def _search_of(name: str, hub: HubRows) -> Callable[[str], list[str]]:
    """A search of a new project with the rows of the hub, as an agent's."""
    from ctxhub.core.accounts.services.projects import create_project
    from ctxhub.core.kit.caller import Caller
    from ctxhub.core.search.selectors.search import search

    slug = f"{name}-{hub.name}".replace("_", "-")
    caller = Caller(project=create_project(slug=slug), agent="bench", keeps_secrets=True)
    ids = write_rows(caller, hub.rows)

    def first(query: str) -> list[str]:
        return [ids.get(hit.ref, hit.ref) for hit in search(caller.project_id, query, limit=DEEPEST).hits]

    return first


def _report(title: str, asked: Sequence[Asked]) -> None:
    pairs = [(one.question.answers, one.found) for one in asked]
    figures = [
        fmean(recall(answers, found, 5) for answers, found in pairs),
        fmean(recall(answers, found, DEEPEST) for answers, found in pairs),
        fmean(reciprocal_rank(answers, found) for answers, found in pairs),
        fmean(one.is_first for one in asked),
    ]
    must = [one.is_first for one in asked if one.question.first]
    shown = [f"{figure:.3f}" for figure in figures] + [f"{fmean(must):.3f}" if must else "-"]
    print(f"{title} | {len(asked)} | {' | '.join(shown)}", flush=True)


def _show_misses(asked: Sequence[Asked]) -> None:
    for one in _misses(asked):
        found = ", ".join(one.found[:3]) or "nothing"
        print(f"    {one.typed} -> {found} (not {', '.join(one.question.answers)})")


def _misses(asked: Sequence[Asked]) -> Iterator[Asked]:
    for one in asked:
        is_found = one.is_first if one.question.first else recall(one.question.answers, one.found, 5) == 1
        if not is_found:
            yield one


if __name__ == "__main__":
    main()
