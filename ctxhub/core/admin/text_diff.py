"""What changed between two texts: by words; where they are long by lines, sentences, then words."""

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
# Where words are not divided by blanks, each character counts as one: Han, kana, hangul.
CJK = "\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003fa1f"
WORD = re.compile(rf"\s|[{CJK}]|[^\W{CJK}]+|[^\w\s]")
SENTENCE = re.compile("(?s).+?(?:[.!?;\u3002\uff01\uff1f\uff1b]+\\s*|\\n|\\Z)")
# Two texts with less in common read better one after the other than woven together.
LEAST_ALIKE = 0.45

Kind = Literal["same", "added", "removed", "skipped"]
Step = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text. One that is skipped says how much it leaves out."""

    kind: Kind
    text: str


def diff(old: str, new: str) -> list[Piece]:
    if max(len(_words(old)), len(_words(new))) <= WORDS_COMPARED:
        return _pieces(_by_words(old, new))
    first, old_lines, new_lines, last = _set_aside(
        old.splitlines(keepends=True), new.splitlines(keepends=True)
    )
    if max(len(old_lines), len(new_lines)) > LINES_COMPARED:
        return [
            Piece("skipped", f"{len(old_lines):,} lines became {len(new_lines):,}: too many to compare here")
        ]
    return _with_gaps(_pieces([*_kept(first), *_by_lines(old_lines, new_lines), *_kept(last)]))


# -- Compared --------------------------------------------------------------------------------------


def _by_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Step]:
    for was, is_now in _blocks(old, new):
        yield from _kept(was) if was == is_now else _by_sentences(was, is_now)


def _by_sentences(old: str, new: str) -> Iterator[Step]:
    old_sentences, new_sentences = SENTENCE.findall(old), SENTENCE.findall(new)
    if max(len(old_sentences), len(new_sentences)) > LINES_COMPARED:
        yield from _replaced(old, new)
        return
    for was, is_now in _blocks(old_sentences, new_sentences):
        yield from _kept(was) if was == is_now else _by_words(was, is_now, quickly=True)


def _by_words(old: str, new: str, *, quickly: bool = False) -> Iterator[Step]:
    """How both begin and end is set aside first: a word that changed is found in a text of any length.

    Quickly: from about 200 words on, the commonest of them are no starting points.
    """
    first, was, is_now, last = _set_aside(_words(old), _words(new))
    woven = [*_kept(first), *_woven(was, is_now, quickly), *_kept(last)]
    yield from woven if _similarity(woven) >= LEAST_ALIKE else _replaced(old, new)


def _woven(old: Sequence[str], new: Sequence[str], quickly: bool) -> Iterator[Step]:
    if max(len(old), len(new)) > WORDS_COMPARED:
        yield from _replaced("".join(old), "".join(new))
        return
    for was, is_now in _blocks(old, new, quickly):
        yield from _kept(was) if was == is_now else _replaced(was, is_now)


def _set_aside(old: Sequence[str], new: Sequence[str]) -> tuple[str, Sequence[str], Sequence[str], str]:
    """How both begin, what lies between on either side, and how both end."""
    begin = _alike(zip(old, new, strict=False))
    rest = min(len(old), len(new)) - begin
    end = _alike(islice(zip(reversed(old), reversed(new), strict=False), rest))
    was, is_now = old[begin : len(old) - end], new[begin : len(new) - end]
    return "".join(old[:begin]), was, is_now, "".join(old[len(old) - end :])


def _kept(text: str) -> list[Step]:
    return [("same", text)]


def _replaced(old: str, new: str) -> list[Step]:
    return [("removed", old), ("added", new)]


def _blocks(old: Sequence[str], new: Sequence[str], quickly: bool = True) -> Iterator[tuple[str, str]]:
    """What stands for what, in order; both are the same where nothing changed."""
    for _, old_from, old_to, new_from, new_to in SequenceMatcher(
        None, old, new, autojunk=quickly
    ).get_opcodes():
        yield "".join(old[old_from:old_to]), "".join(new[new_from:new_to])


def _alike(pairs: Iterable[tuple[str, str]]) -> int:
    """How many pairs from the first on are of the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _similarity(steps: Iterable[Step]) -> float:
    """From 0.0 to 1.0, by the words alone: the blanks between them are always alike."""
    counts: Counter[Kind] = Counter()
    for kind, text in steps:
        counts[kind] += sum(not word.isspace() for word in _words(text))
    return 2 * counts["same"] / max(2 * counts["same"] + counts["removed"] + counts["added"], 1)


def _words(text: str) -> list[str]:
    return WORD.findall(text)


# -- Shown -----------------------------------------------------------------------------------------


def _pieces(steps: Iterable[Step]) -> list[Piece]:
    spoken = ((kind, text) for kind, text in steps if text)
    return [
        Piece(kind, "".join(text for _, text in run))
        for kind, run in groupby(spoken, key=lambda step: step[0])
    ]


def _with_gaps(pieces: Sequence[Piece]) -> list[Piece]:
    last = len(pieces) - 1
    shown = (
        _shortened(piece, place == 0, place == last) if piece.kind == "same" else [piece]
        for place, piece in enumerate(pieces)
    )
    return [piece for some in shown for piece in some]


def _shortened(piece: Piece, is_first: bool, is_last: bool) -> list[Piece]:
    """What did not change, but for what stands around a change."""
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
