"""The changes of a difference, numbered, each with the line where it begins."""

from collections.abc import Iterator, Sequence

from ctxhub.console.text_diff import Piece
from ctxhub.core.kit.frozen import frozen

CHANGED = ("added", "removed")
UNSEEN = ("folded", "skipped")


@frozen
class Change:
    """The number of a change from 1, how many there are, and the line of the new text where it begins."""

    number: int
    total: int
    line: int

    @property
    def previous(self) -> int:
        """The number of the change before it; 0 if it is the first."""
        return self.number - 1

    @property
    def next(self) -> int:
        return self.number + 1 if self.number < self.total else 0


@frozen
class Part:
    """A change with the unchanged text around it; `change` is None where there is nothing to number."""

    change: Change | None
    pieces: Sequence[Piece]


def parts_of(pieces: Sequence[Piece]) -> list[Part]:
    """What lies between two folds is one change."""
    runs = list(_runs(pieces))
    if len(runs) == 1:
        return [Part(None, runs[0])]
    total = sum(map(_has_changed, runs))
    parts, line, number = list[Part](), 1, 0
    for run in runs:
        change = None
        if _has_changed(run):
            number += 1
            change = Change(number, total, line + _lines_before(run))
        parts.append(Part(change, run))
        line += sum(piece.text.count("\n") for piece in run if piece.kind != "removed")
    return parts


def _runs(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """The pieces from one fold to the next; a fold stands alone."""
    run: list[Piece] = []
    for piece in pieces:
        if piece.kind in UNSEEN:
            yield from [run] if run else []
            yield [piece]
            run = []
        else:
            run.append(piece)
    if run:
        yield run


def _has_changed(run: Sequence[Piece]) -> bool:
    return any(piece.kind in CHANGED for piece in run)


def _lines_before(run: Sequence[Piece]) -> int:
    """The lines of a run before its first change."""
    first = next(index for index, piece in enumerate(run) if piece.kind in CHANGED)
    return sum(piece.text.count("\n") for piece in run[:first])
