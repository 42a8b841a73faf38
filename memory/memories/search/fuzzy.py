"""Compares the words of a query with those of a text by edit distance."""

from collections.abc import Iterator, Mapping, Sequence

from ctxhub.core.search.analyser import Piece, pieces, runs
from ctxhub.core.search.queries import MAX_TERMS
from ctxhub.core.search.stop_words import SURFACE


def asked_words(text: str, tolerance: int) -> dict[str, int]:
    """The distinct words of a query, each with the most edits that are allowed.

    At least one letter must match; character pairs of scripts without spaces allow no edits. Stop words are
    dropped unless there are no others.
    """
    found = {word: edits for piece in _pieces(text) for word, edits in _asked(piece, tolerance)}
    content_words = {word: edits for word, edits in found.items() if word not in SURFACE} or found
    return dict(list(content_words.items())[:MAX_TERMS])


def own_words(text: str) -> list[str]:
    """The distinct words of a text, sorted."""
    return sorted({word for piece in _pieces(text) for word in _own(piece)})


def nearest(wanted: Mapping[str, int], own: Sequence[str]) -> dict[str, tuple[str, int]]:
    """For each query word within its allowed edits: the nearest word of the text, and the distance."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = {}
    for word, max_edits in wanted.items():
        if best := process.extractOne(word, own, scorer=OSA.distance, score_cutoff=max_edits):
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
