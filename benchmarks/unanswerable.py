"""Whether search says that nothing fits: `python -m benchmarks.unanswerable [--engine postgres] [--aside]`.

Questions that no entry of the large hub answers, and beside them those of the large hub and of the sets.
`none`: no hits; `told`: hits, but words that nothing has are named. Of answered questions, 0 of either.
`--floors`: also how many answers are lost if a search gives no hits where the best one has less than a share
of the weight of the question.
"""

import argparse
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from django.core.management import call_command

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected
from benchmarks.questions.hubs import read_set, set_names
from benchmarks.questions.reading import read_entries, read_questions, read_unanswerable
from benchmarks.retrieval import write_entries
from benchmarks.row_writing import write_rows
from benchmarks.scoring import recall

if TYPE_CHECKING:
    from ctxhub.core.search.search import SearchResult

FLOORS = (0.1, 0.15, 0.2, 0.25, 0.3)

Asked = tuple[int, str, Sequence[str], dict[str, str]]
"""The project, a question, its answers (none: it has none), and the ids of rows by ref."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unanswerable")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--aside", action="store_true", help="ask what is set aside")
    parser.add_argument("--floors", action="store_true", help="also what a floor would cost")
    options = parser.parse_args()
    with databases(options.engine) as factory, connected(factory.empty()):
        call_command("migrate", verbosity=0)
        floors = "".join(f" | floor {floor}" for floor in FLOORS) if options.floors else ""
        print(f"set | questions | recall@10 | none | told{floors}")
        for name, asked in _sets(aside=options.aside):
            _report(name, asked, floors=options.floors)


def _sets(*, aside: bool) -> Iterator[tuple[str, list[Asked]]]:
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller

    project_id, ids = write_entries(read_entries())
    yield "unanswerable", [(project_id, text, (), ids) for text in read_unanswerable(aside=aside)]
    if not aside:
        yield "large hub", [(project_id, each.question, each.answers, ids) for each in read_questions()]
    for name in set_names():
        asked: list[Asked] = []
        for hub in read_set(name):
            project = create_project(slug=f"{name}-{hub.name}".replace("_", "-"))
            of_hub = write_rows(Caller(project=project, agent="bench", keeps_secrets=True), hub.rows)
            asked += [(project.pk, q.text, q.answers, of_hub) for q in hub.questions if q.is_aside == aside]
        yield name, asked


def _report(name: str, asked: Sequence[Asked], *, floors: bool) -> None:
    from ctxhub.core.search.search import search, words_nowhere

    found = [search(project_id, text) for project_id, text, _, _ in asked]
    recalls = [
        recall(answers, [ids.get(hit.ref, hit.ref) for hit in each.hits], 10) if answers else 0.0
        for (_, _, answers, ids), each in zip(asked, found, strict=True)
    ]
    none = fmean(not each.hits for each in found)
    told = fmean(bool(each.hits and each.search and words_nowhere(each.search)) for each in found)
    shown = [f"{fmean(recalls):.3f}", f"{none:.3f}", f"{told:.3f}"]
    if floors:
        shares = [_share(each) for each in found]
        for floor in FLOORS:
            lost = fmean(one if share < floor else 0.0 for one, share in zip(recalls, shares, strict=True))
            silent = fmean(share < floor for share in shares)
            shown.append(f"-{lost:.4f}, none {silent:.3f}")
    print(f"{name} | {len(asked)} | {' | '.join(shown)}", flush=True)


def _share(found: "SearchResult") -> float:
    """The share of the weight of the question that the terms of the best hit have."""
    weights = found.search.weights if found.search else {}
    total = sum(weights.values()) or 1.0
    own = (sum(weights.get(term, 0.0) for term in hit.ranked.parts) for hit in found.hits)
    return max(own, default=0.0) / total


if __name__ == "__main__":
    main()
