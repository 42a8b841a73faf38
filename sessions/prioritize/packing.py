"""Packs files into a token budget: which are included, and in which form."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ctxhub.core.kit.frozen import frozen
from sessions.accesses.models import Mode

STRONG = 3
PULLED_SHARE = 0.8


@frozen
class PackedFile:
    """A file that may be included. `tokens`: of its whole text, None if that is unknown.

    `reference_tokens`: of the line that only names it. `has_text`: it can be compressed.
    """

    id: int
    path: str
    score: int
    tokens: int | None
    reference_tokens: int
    has_text: bool


class FileLink(NamedTuple):
    """A file that needs another one, by their ids."""

    source: int
    target: int
    strength: int


class Form(NamedTuple):
    """How a file is included, and how many tokens that takes."""

    mode: Mode
    tokens: int


ShorterTokens = Callable[[PackedFile], tuple[int, int]]
"""Tokens of the compressed form and of the digest. It is called only if the whole text does not fit."""


class Pull(NamedTuple):
    """The score that a file gets from one that needs it, and the id of that file."""

    score: int
    source: int


def pulls(scores: Mapping[int, int], links: Iterable[FileLink]) -> dict[int, Pull]:
    """What a strong link gives its target, .8 of the score of its source; the most, by the target's id."""
    found: dict[int, Pull] = {}
    for source, target, strength in links:
        if strength >= STRONG and source in scores and source != target:
            pull = Pull(math.floor(PULLED_SHARE * scores[source] + 0.5), source)
            found[target] = max(pull, found.get(target, pull), key=lambda each: (each.score, -each.source))
    return found


def in_order(files: Iterable[PackedFile]) -> list[PackedFile]:
    """By score, then by score for each token, then by path."""
    return sorted(files, key=lambda file: (-file.score, -_worth(file), file.path))


def pack(files: Sequence[PackedFile], budget: int, shorter: ShorterTokens) -> dict[int, Form]:
    """The form of each file that is included, by its id; the tokens of all are at most `budget`.

    Each file gets the fullest form that fits into what the files before it left. So no form can be made
    fuller afterwards: a fuller one did not fit then, and what is left has only become less. A file is only
    shortened where there is room to name it, or thousands would be for the last few tokens.
    """
    forms: dict[int, Form] = {}
    left = budget
    for file in in_order(files):
        if form := _fullest(file, left, shorter):
            forms[file.id] = form
            left -= form.tokens
    return forms


def _worth(file: PackedFile) -> float:
    tokens = file.reference_tokens if file.tokens is None else file.tokens
    return file.score / tokens if tokens else math.inf


def _fullest(file: PackedFile, left: int, shorter: ShorterTokens) -> Form | None:
    if file.tokens is not None and file.tokens <= left:
        return Form(Mode.FULL, file.tokens)
    if file.has_text and file.reference_tokens <= left:
        for mode, tokens in zip((Mode.COMPRESSED, Mode.DIGEST), shorter(file), strict=True):
            if tokens <= left:
                return Form(mode, tokens)
    return Form(Mode.REFERENCE, file.reference_tokens) if file.reference_tokens <= left else None
