"""Compares two texts by words, or if they are long by lines, then sentences, then words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby, islice, takewhile
from typing import Literal

WORDS_COMPARED = 600
LINES_COMPARED = 4_000
CONTEXT_LINES = 2
CONTEXT_CHARACTERS = 300
# Scripts without blanks between words: each character counts as a word. Han, kana, hangul.
CJK = "\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003fa1f"
WORD = re.compile(rf"\s|[{CJK}]|[^\W{CJK}]+|[^\w\s]")
SENTENCE = re.compile("(?s).+?(?:[.!?;\u3002\uff01\uff1f\uff1b]+\\s*|\\n|\\Z)")
# Texts with less in common are shown one after the other: this reads better than an interleaved diff.
MIN_SIMILARITY = 0.45

Kind = Literal["same", "added", "removed", "skipped"]
Step = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text. The text of a skipped piece says how much is left out."""

    kind: Kind
    text: str


def diff(old: str, new: str) -> list[Piece]:
    if max(len(_words(old)), len(_words(new))) <= WORDS_COMPARED:
        return _pieces(_by_words(old, new))
    prefix, old_lines, new_lines, suffix = _split_common(
        old.splitlines(keepends=True), new.splitlines(keepends=True)
    )
    if max(len(old_lines), len(new_lines)) > LINES_COMPARED:
        return [
            Piece("skipped", f"{len(old_lines):,} lines became {len(new_lines):,}: too many to compare here")
        ]
    return _with_gaps(_pieces([*_same(prefix), *_by_lines(old_lines, new_lines), *_same(suffix)]))


# -- Comparing -------------------------------------------------------------------------------------


def _by_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Step]:
    for before, after in _blocks(old, new):
        yield from _same(before) if before == after else _by_sentences(before, after)


def _by_sentences(old: str, new: str) -> Iterator[Step]:
    old_sentences, new_sentences = SENTENCE.findall(old), SENTENCE.findall(new)
    if max(len(old_sentences), len(new_sentences)) > LINES_COMPARED:
        yield from _replaced(old, new)
        return
    for before, after in _blocks(old_sentences, new_sentences):
        yield from _same(before) if before == after else _by_words(before, after, quickly=True)


def _by_words(old: str, new: str, *, quickly: bool = False) -> Iterator[Step]:
    """Compares by words, without the common prefix and suffix: one changed word is found in any long text.

    `quickly`: from 200 words on, the most frequent words do not start a match (difflib's autojunk).
    """
    prefix, before, after, suffix = _split_common(_words(old), _words(new))
    steps = [*_same(prefix), *_interleaved(before, after, quickly), *_same(suffix)]
    yield from steps if _similarity(steps) >= MIN_SIMILARITY else _replaced(old, new)


def _interleaved(old: Sequence[str], new: Sequence[str], quickly: bool) -> Iterator[Step]:
    if max(len(old), len(new)) > WORDS_COMPARED:
        yield from _replaced("".join(old), "".join(new))
        return
    for before, after in _blocks(old, new, quickly):
        yield from _same(before) if before == after else _replaced(before, after)


def _split_common(old: Sequence[str], new: Sequence[str]) -> tuple[str, Sequence[str], Sequence[str], str]:
    """The common prefix, the differing middle of each, and the common suffix."""
    begin = _count_equal(zip(old, new, strict=False))
    rest = min(len(old), len(new)) - begin
    end = _count_equal(islice(zip(reversed(old), reversed(new), strict=False), rest))
    before, after = old[begin : len(old) - end], new[begin : len(new) - end]
    return "".join(old[:begin]), before, after, "".join(old[len(old) - end :])


def _same(text: str) -> list[Step]:
    return [("same", text)]


def _replaced(old: str, new: str) -> list[Step]:
    return [("removed", old), ("added", new)]


def _blocks(old: Sequence[str], new: Sequence[str], quickly: bool = True) -> Iterator[tuple[str, str]]:
    """Pairs of old and new text in order; both are equal where nothing changed."""
    for _, old_from, old_to, new_from, new_to in SequenceMatcher(
        None, old, new, autojunk=quickly
    ).get_opcodes():
        yield "".join(old[old_from:old_to]), "".join(new[new_from:new_to])


def _count_equal(pairs: Iterable[tuple[str, str]]) -> int:
    """The number of leading pairs whose two members are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _similarity(steps: Iterable[Step]) -> float:
    """The similarity from 0.0 to 1.0 by words, without the blanks, which always match."""
    counts: Counter[Kind] = Counter()
    for kind, text in steps:
        counts[kind] += sum(not word.isspace() for word in _words(text))
    return 2 * counts["same"] / max(2 * counts["same"] + counts["removed"] + counts["added"], 1)


def _words(text: str) -> list[str]:
    return WORD.findall(text)


# -- Showing ---------------------------------------------------------------------------------------


def _pieces(steps: Iterable[Step]) -> list[Piece]:
    nonempty = ((kind, text) for kind, text in steps if text)
    return [
        Piece(kind, "".join(text for _, text in run))
        for kind, run in groupby(nonempty, key=lambda step: step[0])
    ]


def _with_gaps(pieces: Sequence[Piece]) -> list[Piece]:
    last = len(pieces) - 1
    shown = (
        _shortened(piece, index == 0, index == last) if piece.kind == "same" else [piece]
        for index, piece in enumerate(pieces)
    )
    return [piece for group in shown for piece in group]


def _shortened(piece: Piece, is_first: bool, is_last: bool) -> list[Piece]:
    """An unchanged piece cut down to the context of the changes beside it, with a count of what is hidden."""
    lines = piece.text.splitlines(keepends=True)
    before = "" if is_first else "".join(lines[:CONTEXT_LINES])[:CONTEXT_CHARACTERS]
    after = "" if is_last else "".join(lines[-CONTEXT_LINES:])[-CONTEXT_CHARACTERS:]
    hidden = piece.text[len(before) : len(piece.text) - len(after)]
    if len(hidden.splitlines()) <= 1 and len(hidden) <= CONTEXT_CHARACTERS:
        return [piece]
    around = [Piece("same", before), Piece("skipped", _amount(hidden)), Piece("same", after)]
    return [part for part in around if part.text]


def _amount(text: str) -> str:
    lines = len(text.splitlines())
    return f"{lines:,} unchanged lines" if lines > 1 else f"{len(text.split()):,} unchanged words"
