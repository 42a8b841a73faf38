"""Compares two texts by lines, then by sentences, then by words; unchanged lines are folded."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ctxhub.console.sentence_diff import Kind, Step, compare_sentences, grouped, matched, split_common
from ctxhub.core.kit.frozen import frozen

LINES_COMPARED = 4_000
CONTEXT_LINES = 2
CONTEXT_CHARACTERS = 300
# Above this, folds of all unchanged text would make the page too large: they tell only how much it is.
FOLDED_CHARACTERS = 300_000
# With the blank lines after it: they are all equal, and would match paragraphs that do not belong together.
LINE = re.compile(r"[^\n]*\n(?:[^\S\n]*\n)*|[^\n]+\Z")


@frozen
class Piece:
    """A run of text. `note` says of a folded one how much it is; of a skipped one only the note is shown."""

    kind: Kind
    text: str
    note: str = ""


def diff(old: str, new: str) -> list[Piece]:
    prefix, old_lines, new_lines, suffix = split_common(LINE.findall(old), LINE.findall(new))
    if max(len(old_lines), len(new_lines)) > LINES_COMPARED:
        note = f"{len(old_lines):,} lines became {len(new_lines):,}: too many to compare here"
        return [Piece("skipped", "", note)]
    steps = [("same", prefix), *_by_lines(old_lines, new_lines), ("same", suffix)]
    return _folded([Piece(kind, text) for kind, text in grouped(steps)])


def _by_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Step]:
    for before, after in matched(old, new):
        if before == after:
            yield "same", "".join(before)
        else:
            yield from compare_sentences("".join(before), "".join(after))


# -- Folding ---------------------------------------------------------------------------------------


def _folded(pieces: Sequence[Piece]) -> list[Piece]:
    last = len(pieces) - 1
    shown = (
        _shortened(piece, index == 0, index == last) if piece.kind == "same" and last else [piece]
        for index, piece in enumerate(pieces)
    )
    found = [piece for group in shown for piece in group]
    if sum(len(piece.text) for piece in found if piece.kind == "folded") <= FOLDED_CHARACTERS:
        return found
    return [replace(piece, kind="skipped") if piece.kind == "folded" else piece for piece in found]


def _shortened(piece: Piece, is_first: bool, is_last: bool) -> list[Piece]:
    """An unchanged piece, folded but for the context of the changes beside it."""
    lines = piece.text.splitlines(keepends=True)
    before = "" if is_first else "".join(lines[: CONTEXT_LINES + 1])[:CONTEXT_CHARACTERS]
    after = "" if is_last else "".join(lines[-CONTEXT_LINES:])[-CONTEXT_CHARACTERS:]
    hidden = piece.text[len(before) : len(piece.text) - len(after)]
    if len(hidden.splitlines()) <= 1 and len(hidden) <= CONTEXT_CHARACTERS:
        return [piece]
    around = [Piece("same", before), Piece("folded", hidden, _amount(hidden)), Piece("same", after)]
    return [part for part in around if part.text]


def _amount(text: str) -> str:
    lines = len(text.splitlines())
    return f"{lines:,} unchanged lines" if lines > 1 else f"{len(text.split()):,} unchanged words"
