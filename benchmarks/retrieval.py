"""Quality of search: `python -m benchmarks.retrieval [--engine postgres]`.

Five hundred questions over 2,000 entries, unchanged and with one typo each, asked of our search and of the
full text search of the database. Recall@n: the share of the answers among the first n hits; MRR: one divided
by the rank of the first answer. Entries are written through the services and found as an agent finds them.
"""

import argparse
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from django.core.management import call_command

from benchmarks.databases import Engine, databases
from benchmarks.inside import connected
from benchmarks.questions.entries import Entry, Kind
from benchmarks.questions.hubs import Row, RowKind
from benchmarks.questions.reading import Question, read_entries, read_questions, with_typo
from benchmarks.row_writing import write_rows
from benchmarks.scoring import DEEPEST, recall, reciprocal_rank

SEED = 7

Search = Callable[[str], list[str]]
"""The ids of the first ten entries that answer a question."""


@dataclass(frozen=True, slots=True)
class Scores:
    recall_5: float
    recall_10: float
    mrr: float
    milliseconds: float

    def __str__(self) -> str:
        return f"{self.recall_5:.3f} | {self.recall_10:.3f} | {self.mrr:.3f} | {self.milliseconds:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval")
    parser.add_argument("--engine", type=Engine, choices=list(Engine), default=Engine.SQLITE)
    parser.add_argument("--semantic", action="store_true", help="also with the extra of that name")
    parser.add_argument("--sorts", action="store_true", help="also by sort of question")
    options = parser.parse_args()
    entries, questions = read_entries(), read_questions()
    with databases(options.engine) as factory, connected(factory.empty()):
        call_command("migrate", verbosity=0)
        searches = {**_built_in(options.engine, entries), **ours(entries)}
        if options.semantic:
            searches["ctxhub auto, semantic"] = _semantic(searches["ctxhub auto"])
        print("search | questions | recall@5 | recall@10 | MRR | ms")
        print("---|---|---|---|---|---")
        for name, search in searches.items():
            _report(name, search, questions, by_sort=options.sorts and name.startswith("ctxhub"))


def _report(name: str, search: Search, questions: Sequence[Question], *, by_sort: bool) -> None:
    print(f"{name} | clean | {score(search, questions)}", flush=True)
    mistyped = [_mistyped(question, place) for place, question in enumerate(questions)]
    print(f"{name} | one typo | {score(search, mistyped)}", flush=True)
    if by_sort:
        for sort in dict.fromkeys(question.sort for question in questions):
            some = [question for question in questions if question.sort is sort]
            print(f"{name} | {sort} ({len(some)}) | {score(search, some)}", flush=True)


def score(search: Search, questions: Sequence[Question]) -> Scores:
    started = time.perf_counter()
    found = [search(question.question) for question in questions]
    took = time.perf_counter() - started
    pairs = list(zip(questions, found, strict=True))
    return Scores(
        fmean(recall(question.answers, ids, 5) for question, ids in pairs),
        fmean(recall(question.answers, ids, DEEPEST) for question, ids in pairs),
        fmean(reciprocal_rank(question.answers, ids) for question, ids in pairs),
        took / len(questions) * 1000,
    )


def _mistyped(question: Question, seed: int) -> Question:
    return Question(with_typo(question.question, SEED + seed), question.answers, question.sort)


# -- Search of ctxhub ------------------------------------------------------------------------------


def ours(entries: Sequence[Entry]) -> Mapping[str, Search]:
    from ctxhub.core.search.search import search

    project_id, ids = write_entries(entries)

    def ask(match: str) -> Search:
        def first(question: str) -> list[str]:
            found = search(project_id, question, match=match, limit=DEEPEST)
            return [ids[hit.ref] for hit in found.hits if hit.ref in ids]

        return first

    return {f"ctxhub {match}": ask(match) for match in ("auto", "any", "all", "fuzzy")}


def _semantic(search: Search) -> Search:
    from django.test import override_settings

    return override_settings(SEMANTIC_SEARCH=True)(search)


def write_entries(entries: Sequence[Entry]) -> tuple[int, dict[str, str]]:
    """Store every entry as a row of its kind; return the project and the id of each entry by its ref."""
    from ctxhub.core.accounts.projects import create_project
    from ctxhub.core.kit.caller import Caller

    caller = Caller(project=create_project(slug="bench"), agent="bench", keeps_secrets=True)
    return caller.project_id, write_rows(caller, [_row(entry) for entry in entries])


def _row(entry: Entry) -> Row:
    """The row of an entry; the subject of a message is put into its text."""
    text = f"{entry.title}. {entry.text}" if entry.kind is Kind.MESSAGE else entry.text
    return Row(entry.id, RowKind(entry.kind), entry.title, (text,), tags=entry.tags)


# -- Full text search of the database --------------------------------------------------------------


def _built_in(engine: Engine, entries: Sequence[Entry]) -> Mapping[str, Search]:
    from django.db import connection

    texts = [(e.id, f"{e.title} {' '.join(e.tags)} {e.text}") for e in entries]
    with connection.cursor() as cursor:
        if engine is Engine.SQLITE:
            cursor.execute(
                "CREATE VIRTUAL TABLE plain USING fts5(id UNINDEXED, body, tokenize='porter unicode61')"
            )
            cursor.executemany("INSERT INTO plain(id, body) VALUES (%s, %s)", texts)
            return {"FTS5 AND": _fts5(" AND "), "FTS5 OR": _fts5(" OR ")}
        cursor.execute("CREATE TABLE plain (id text, body text, vector tsvector)")
        cursor.executemany(
            "INSERT INTO plain VALUES (%s, %s, to_tsvector('english', %s))", [(i, t, t) for i, t in texts]
        )
        cursor.execute("CREATE INDEX ON plain USING gin (vector)")
    return {"tsvector AND": _tsvector(" & "), "tsvector OR": _tsvector(" | ")}


def _fts5(operator: str) -> Search:
    statement = "SELECT id FROM plain WHERE plain MATCH %s ORDER BY rank LIMIT 10"
    return lambda question: _ids(statement, [operator.join(f'"{word}"' for word in _words(question))])


def _tsvector(operator: str) -> Search:
    parsed = "to_tsquery('english', %s)"
    statement = (
        f"SELECT id FROM plain WHERE vector @@ {parsed} ORDER BY ts_rank(vector, {parsed}) DESC LIMIT 10"
    )
    return lambda question: _ids(statement, [operator.join(_words(question))] * 2)


def _ids(statement: str, values: Sequence[str]) -> list[str]:
    from ctxhub.core.kit import sql

    return [found for (found,) in sql.rows(statement, values)] if values[0] else []


def _words(question: str) -> list[str]:
    return re.findall(r"\w+", question)


if __name__ == "__main__":
    main()
