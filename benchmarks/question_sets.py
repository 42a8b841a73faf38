"""Quality of search in small projects: `python -m benchmarks.question_sets [--engine postgres]`.

Each set tests another kind of question, and each of its hubs is a project of its own. Two thirds of the
questions are asked; `--aside` asks the others, which are not looked at while tuning. `must`: the share with
an answer as the first hit, of the questions where only the first hit counts.
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
class SearchResult:
    """A question as it was typed, and its hits; hits that are no rows of the hub count, too."""

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
    options = parser.parse_args()
    if options.misses and options.aside:
        parser.error("What is set aside is not looked at.")
    with databases(options.engine) as factory, connected(factory.empty()):
        call_command("migrate", verbosity=0)
        print("set | asked | questions | recall@5 | recall@10 | MRR | first | must")
        print("---|---|---|---|---|---|---|---")
        for name in options.sets or set_names():
            clean, mistyped = ask_set(name, aside=options.aside)
            _report(f"{name} | clean", clean)
            _report(f"{name} | one typo", mistyped)
            if options.misses:
                _show_misses(clean)


def ask_set(name: str, *, aside: bool) -> tuple[list[SearchResult], list[SearchResult]]:
    """Ask the questions of all hubs of the set, unchanged and with one typo each."""
    clean: list[SearchResult] = []
    mistyped: list[SearchResult] = []
    for hub in read_set(name):
        search = search_of(name, hub)
        for question in (question for question in hub.questions if question.is_aside == aside):
            typed = with_typo(question.text, SEED)
            clean.append(SearchResult(question, question.text, search(question.text)))
            mistyped.append(SearchResult(question, typed, search(typed)))
    return clean, mistyped


def search_of(name: str, hub: HubRows) -> Callable[[str], list[str]]:
    """A search of a new project with the rows of the hub."""
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller
    from ctxhub.core.search.search import search

    slug = f"{name}-{hub.name}".replace("_", "-")
    caller = Caller(project=create_project(slug=slug), agent="bench", keeps_secrets=True)
    ids = write_rows(caller, hub.rows)

    def first(query: str) -> list[str]:
        return [ids.get(hit.ref, hit.ref) for hit in search(caller.project_id, query, limit=DEEPEST).hits]

    return first


def _report(title: str, results: Sequence[SearchResult]) -> None:
    pairs = [(result.question.answers, result.found) for result in results]
    figures = [
        fmean(recall(answers, found, 5) for answers, found in pairs),
        fmean(recall(answers, found, DEEPEST) for answers, found in pairs),
        fmean(reciprocal_rank(answers, found) for answers, found in pairs),
        fmean(result.is_first for result in results),
    ]
    must = [result.is_first for result in results if result.question.first]
    shown = [f"{figure:.3f}" for figure in figures] + [f"{fmean(must):.3f}" if must else "-"]
    print(f"{title} | {len(results)} | {' | '.join(shown)}", flush=True)


def _show_misses(results: Sequence[SearchResult]) -> None:
    for result in _misses(results):
        found = ", ".join(result.found[:3]) or "nothing"
        print(f"    {result.typed} -> {found} (not {', '.join(result.question.answers)})")


def _misses(results: Sequence[SearchResult]) -> Iterator[SearchResult]:
    for result in results:
        is_found = (
            result.is_first
            if result.question.first
            else recall(result.question.answers, result.found, 5) == 1
        )
        if not is_found:
            yield result


if __name__ == "__main__":
    main()
