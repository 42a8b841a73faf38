"""What typos cost search: `python -m benchmarks.typos [--engine postgres] [--misses]`.

Each question of the large hub and of the sets is asked as it is, and with a letter of one of its content
words swapped, dropped, doubled and replaced. Shown are the recall among the first ten hits, and by how much
each sort of typo lowers it. Questions that no typo can change, as Chinese ones, are left out.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from django.core.management import call_command

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected
from benchmarks.question_sets import search_of
from benchmarks.questions.hubs import read_set, set_names
from benchmarks.questions.reading import TYPOS, read_entries, read_questions, with_typo
from benchmarks.retrieval import ours
from benchmarks.scoring import DEEPEST, recall

SEED = 7

Asked = tuple[str, Sequence[str], Callable[[str], list[str]]]
"""A question, its answers, and the search of its hub."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.typos")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--aside", action="store_true", help="ask what is set aside of the sets")
    parser.add_argument("--misses", action="store_true", help="also what a typo loses")
    options = parser.parse_args()
    if options.misses and options.aside:
        parser.error("What is set aside is not looked at.")
    with databases(options.engine) as factory, connected(factory.empty()):
        call_command("migrate", verbosity=0)
        print(f"set | questions | clean | {' | '.join(TYPOS)} | mean")
        print(f"{'---|' * (3 + len(TYPOS))}---")
        every: list[list[float]] = []
        for name, asked in _sets(aside=options.aside):
            scores = [score for number, each in enumerate(asked) if (score := _scores(each, number, options))]
            _report(name, scores)
            every += scores
        _report("all", every)


def _sets(*, aside: bool) -> Iterator[tuple[str, list[Asked]]]:
    if not aside:
        search = ours(read_entries())["ctxhub auto"]
        yield "large hub", [(each.question, each.answers, search) for each in read_questions()]
    for name in set_names():
        yield (
            name,
            [
                (question.text, question.answers, search)
                for hub in read_set(name)
                for search in [search_of(name, hub)]
                for question in hub.questions
                if question.is_aside == aside
            ],
        )


def _scores(asked: Asked, number: int, options: argparse.Namespace) -> list[float]:
    """The recall of the question as it is, and with each sort of typo; nothing if no typo changes it."""
    question, answers, search = asked
    typed = [with_typo(question, SEED + number, sort) for sort in TYPOS]
    if question in typed:
        return []
    clean, *others = (recall(answers, search(text), DEEPEST) for text in (question, *typed))
    if options.misses:
        for text, found in zip(typed, others, strict=True):
            if found < clean:
                print(f"    {text} (not {question})")
    return [clean, *others]


def _report(name: str, scores: Sequence[Sequence[float]]) -> None:
    if not scores:
        return
    clean, *typed = (fmean(column) for column in zip(*scores, strict=True))
    costs = [clean - each for each in typed]
    shown = " | ".join(f"-{cost:.4f}" for cost in [*costs, fmean(costs)])
    print(f"{name} | {len(scores)} | {clean:.3f} | {shown}", flush=True)


if __name__ == "__main__":
    main()
