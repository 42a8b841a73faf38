"""Words to be compared letter by letter: those of a question, and those of a text."""

from collections.abc import Iterator, Mapping, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from ctxhub.core.search.analyser import Piece, pieces, runs
from ctxhub.core.search.queries import MAX_TERMS
from ctxhub.core.search.stop_words import SURFACE


def asked_words(text: str, tolerance: int) -> dict[str, int]:
    """The different words of a question, and how many edits away each may be.

    At least one letter stays, and pairs of a script without blanks stay as they are. Words that say nothing
    are dropped, unless there are no others.
    """
    found = {word: reach for piece in _pieces(text) for word, reach in _asked(piece, tolerance)}
    telling = {word: reach for word, reach in found.items() if word not in SURFACE} or found
    return dict(list(telling.items())[:MAX_TERMS])


def own_words(text: str) -> list[str]:
    """The different words of a text, by the alphabet."""
    return sorted({word for piece in _pieces(text) for word in _own(piece)})


def nearest(asked: Mapping[str, int], own: Sequence[str]) -> dict[str, tuple[str, int]]:
    """For each word that is near enough the nearest of a text's own, and how many edits away it is."""
    found = {}
    for word, reach in asked.items():
        if best := process.extractOne(word, own, scorer=OSA.distance, score_cutoff=reach):
            found[word] = best[0], int(best[1])
    return found


def _asked(piece: Piece, tolerance: int) -> Iterator[tuple[str, int]]:
    if piece.is_dense:
        yield from ((pair, 0) for pair in piece.words[:-1] or piece.words)
    elif piece.surface:
        yield piece.surface, min(tolerance, len(piece.surface) - 1)


def _own(piece: Piece) -> Iterator[str]:
    if piece.is_dense:
        yield from piece.words
        yield from (pair[0] for pair in piece.words)
    elif piece.surface:
        yield piece.surface


def _pieces(text: str) -> Iterator[Piece]:
    return (piece for run in runs(text) for piece in pieces(run.group()))
