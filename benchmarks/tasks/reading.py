"""The tasks and all 2,000 rows: those written by hand among those put together. Always the same."""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.tasks.made import made_rows
from benchmarks.tasks.rows import Noun, Task, TaskRow

FOLDER = Path(__file__).parent
SEED = 3
LISTS = ("tags", "scopes", "paths")


def read_tasks() -> list[Task]:
    return [
        Task(line["number"], line["task"], tuple(line["right"])) for line in _lines(FOLDER / "tasks.jsonl")
    ]


def read_rows() -> list[TaskRow]:
    """In the order in which they are written, which tells nothing about them; a cause before its effect."""
    rows = [*written_rows(), *made_rows()]
    Random(SEED).shuffle(rows)
    place = {row.id: number for number, row in enumerate(rows)}
    for number, row in enumerate(rows):
        effect = number
        while row.cause and place[row.cause] > effect:
            later = place[row.cause]
            rows[effect], rows[later] = rows[later], rows[effect]
            place[rows[effect].id], place[rows[later].id] = effect, later
            row = rows[effect]
    return rows


def written_rows() -> list[TaskRow]:
    """The rows written by hand: those that tasks name, and others on the same subjects."""
    return [_row(line) for line in _lines(FOLDER / "rows.jsonl")]


def _row(line: dict[str, Any]) -> TaskRow:
    lists = {name: tuple(line[name]) for name in LISTS if name in line}
    return TaskRow(**{**line, **lists, "noun": Noun(line["noun"])})


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for text in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(text)
