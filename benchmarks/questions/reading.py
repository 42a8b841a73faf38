"""The entries, the questions asked of them, and the questions as somebody in a hurry types them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import Any

from benchmarks.questions.entries import Entry, Kind
from benchmarks.questions.made import made_entries

FOLDER = Path(__file__).parent
SEED = 2

# Five plain letters or more, and no part of an identifier, a path, a version or a word with accents.
_WORD = re.compile(r"(?<![A-Za-z0-9_À-ɏ./-])[A-Za-z]{5,}(?![A-Za-z0-9_À-ɏ/-]|[.(][\w)])")
_STOP_WORD = re.compile(
    "about|above|after|again|allowed|along|already|although|always|among|another|anybody|anyone|before|being|"
    "below|between|could|doing|during|either|every|everybody|everyone|everything|first|further|having|itself|"
    "might|nobody|nothing|other|others|ought|shall|should|since|somebody|someone|something|still|their|theirs|"
    "themselves|there|these|those|through|under|until|using|where|whether|which|while|whose|within|without|"
    "would|yours|yourself",
    re.IGNORECASE,
)


class Sort(StrEnum):
    SINGLE = "single"
    MULTI = "multi"
    TEMPORAL = "temporal"
    PARAPHRASE = "paraphrase"
    CHINESE = "chinese"
    CODE = "code"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Question:
    """`answers` are the ids of all entries that answer it; of the sort `multi` two, each one half of it."""

    question: str
    answers: tuple[str, ...]
    sort: Sort


def read_entries() -> list[Entry]:
    """All 2,000, those that answer among those that do not: their order gives nothing away."""
    entries = [
        Entry(row["id"], Kind(row["kind"]), row["title"], row["text"], tuple(row["tags"]))
        for path in sorted((FOLDER / "entries").glob("*.jsonl"))
        for row in _rows(path)
    ]
    entries += made_entries()
    Random(SEED).shuffle(entries)
    return entries


def read_questions() -> list[Question]:
    return [
        Question(row["question"], tuple(row["answers"]), Sort(row["sort"]))
        for row in _rows(FOLDER / "questions.jsonl")
    ]


def read_unanswerable(*, aside: bool) -> list[str]:
    """Questions that no entry answers; half of them are set aside."""
    rows = _rows(FOLDER / "unanswerable.jsonl")
    return [row["question"] for row in rows if row.get("aside", False) == aside]


TYPOS = ("swap", "drop", "double", "replace")


def with_typo(question: str, seed: int, sort: str = "") -> str:
    """The question with one letter of one content word swapped, dropped, doubled or replaced.

    `sort`: which of these; "": by chance. The first letter stays, since people seldom miss it. A question
    without such a word, as one that is Chinese only, comes back as it is. The same for the same seed.
    """
    words = [word for word in _WORD.finditer(question) if not _STOP_WORD.fullmatch(word[0])]
    if not words:
        return question
    random = Random(f"{seed} {question}")
    word = random.choice(words)
    return question[: word.start()] + _misspelt(random, word[0], sort) + question[word.end() :]


def _misspelt(random: Random, word: str, sort: str) -> str:
    at = random.randrange(1, len(word) - 1)
    before, letter, following, after = word[:at], word[at], word[at + 1], word[at + 2 :]
    match sort or random.choice(TYPOS):
        case "swap" if letter != following:
            return before + following + letter + after
        case "drop":
            return before + following + after
        case "double":
            return before + letter + letter + following + after
        case _:
            others = ascii_lowercase.replace(letter.lower(), "")
            return before + random.choice(others) + following + after


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
