"""Question sets: small projects as a team would fill them, and questions with known answers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

SETS = Path(__file__).parent / "sets"
ASIDE_EVERY = 3


class RowKind(StrEnum):
    DECISION = "decision"
    CONSTRAINT = "constraint"
    MESSAGE = "message"
    CHANGE = "change"
    MEMORY = "memory"
    SCRATCHPAD = "scratchpad"


@dataclass(frozen=True, slots=True)
class Row:
    """`title` is a decision's key, a constraint's category, a change's path; a message has none.

    `texts` are its texts over time, the present one last. `context` is a memory's context or a scratchpad's
    workflow, `type` that of a memory or message, `reply_to` the id of an earlier row, `agent` who wrote it.
    """

    id: str
    kind: RowKind
    title: str
    texts: tuple[str, ...]
    rationale: str = ""
    tags: tuple[str, ...] = ()
    type: str = ""
    context: str = ""
    reply_to: str = ""
    agent: str = ""

    @property
    def text(self) -> str:
        return self.texts[-1]


@dataclass(frozen=True, slots=True)
class HubQuestion:
    """`answers` are the ids of all rows that answer it. `first`: an answer has to be the first hit."""

    text: str
    answers: tuple[str, ...]
    first: bool = False

    @property
    def is_aside(self) -> bool:
        """Measured apart, and never looked at while a search is tuned: every third, by its text."""
        return int.from_bytes(sha256(self.text.encode()).digest()[:8]) % ASIDE_EVERY == 0


@dataclass(frozen=True, slots=True)
class HubRows:
    """The rows of one project, in the order in which they were written."""

    name: str
    rows: tuple[Row, ...]
    questions: tuple[HubQuestion, ...]


def set_names() -> list[str]:
    return sorted(folder.name for folder in SETS.iterdir() if folder.is_dir())


def read_set(name: str) -> list[HubRows]:
    """The hubs of a set; each is a project of its own."""
    rows: dict[str, list[Row]] = {}
    for line in _lines(SETS / name / "rows.jsonl"):
        rows.setdefault(line["hub"], []).append(_row(line))
    questions: dict[str, list[HubQuestion]] = {hub: [] for hub in rows}
    for line in _lines(SETS / name / "questions.jsonl"):
        question = HubQuestion(line["question"], tuple(line["answers"]), line.get("first", False))
        questions[line["hub"]].append(question)
    return [HubRows(hub, tuple(rows[hub]), tuple(questions[hub])) for hub in rows]


def _row(line: dict[str, Any]) -> Row:
    fields = {
        name: line[name] for name in ("rationale", "type", "context", "reply_to", "agent") if name in line
    }
    return Row(
        id=line["id"],
        kind=RowKind(line["kind"]),
        title=line.get("title", ""),
        texts=tuple(line["values"]) if "values" in line else (line["text"],),
        tags=tuple(line.get("tags", ())),
        **fields,
    )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
