"""What changed between two texts: by words where they are short, by lines where they are long."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

WORDS_COMPARED = 600
LINES_COMPARED = 4_000
CONTEXT_LINES = 2
# Two texts with less in common read better one after the other than woven together.
LEAST_ALIKE = 0.4

Kind = Literal["same", "added", "removed", "skipped"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text. One that is skipped says how much it leaves out."""

    kind: Kind
    text: str


def diff(old: str, new: str) -> list[Piece]:
    old_words, new_words = _words(old), _words(new)
    if max(len(old_words), len(new_words)) <= WORDS_COMPARED:
        return _by_words(old_words, new_words)
    return _by_lines(old.splitlines(keepends=True), new.splitlines(keepends=True))


def _by_words(old: Sequence[str], new: Sequence[str]) -> list[Piece]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if _likeness(old, new) < LEAST_ALIKE:
        return _pieces([("removed", "".join(old)), ("added", "".join(new))])
    return _pieces(_steps(matcher, old, new))


def _by_lines(old: Sequence[str], new: Sequence[str]) -> list[Piece]:
    if max(len(old), len(new)) > LINES_COMPARED:
        return [Piece("skipped", f"{len(old):,} lines became {len(new):,}: too many to compare here")]
    pieces: list[Piece] = []
    steps = _pieces(_steps(SequenceMatcher(None, old, new), old, new))
    for place, piece in enumerate(steps):
        is_edge = (place == 0, place == len(steps) - 1)
        pieces += _shortened(piece, *is_edge) if piece.kind == "same" else [piece]
    return pieces


def _steps(
    matcher: SequenceMatcher[str], old: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[Kind, str]]:
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            yield "same", "".join(old[old_from:old_to])
        else:
            yield "removed", "".join(old[old_from:old_to])
            yield "added", "".join(new[new_from:new_to])


def _pieces(steps: Sequence[tuple[Kind, str]] | Iterator[tuple[Kind, str]]) -> list[Piece]:
    spoken = ((kind, text) for kind, text in steps if text)
    return [
        Piece(kind, "".join(text for _, text in run))
        for kind, run in groupby(spoken, key=lambda step: step[0])
    ]


def _shortened(piece: Piece, is_first: bool, is_last: bool) -> list[Piece]:
    """Unchanged lines, but for those around a change."""
    lines = piece.text.splitlines(keepends=True)
    before = 0 if is_first else CONTEXT_LINES
    after = 0 if is_last else CONTEXT_LINES
    skipped = len(lines) - before - after
    if skipped <= 1:
        return [piece]
    head, tail = lines[:before], lines[len(lines) - after :]
    around = [
        Piece("same", "".join(head)),
        Piece("skipped", f"{skipped} unchanged lines"),
        Piece("same", "".join(tail)),
    ]
    return [part for part in around if part.text]


def _likeness(old: Sequence[str], new: Sequence[str]) -> float:
    """From 0.0 to 1.0, by the words alone: the blanks between them are always alike."""
    old_words, new_words = ([word for word in side if not word.isspace()] for side in (old, new))
    return SequenceMatcher(None, old_words, new_words, autojunk=False).ratio()


def _words(text: str) -> list[str]:
    return re.findall(r"\s|\w+|[^\w\s]", text)
