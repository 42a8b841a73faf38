"""Compares passages by sentences: of an edited one the words that differ, of a rewritten one all words."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, takewhile
from typing import Literal

SENTENCES_COMPARED = 4_000
WORDS_COMPARED = 600
# Scripts without blanks between words: each character counts as a word. Han, kana, hangul.
CJK = "\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003fa1f"
VISIBLE = rf"[{CJK}]|[^\W{CJK}]+|[^\w\s]"
WORD, VISIBLE_WORD = re.compile(rf"\s|{VISIBLE}"), re.compile(VISIBLE)
# At most a line. A full stop inside a word ("config.py", "3.14") ends none.
SENTENCE = re.compile(
    r".+?(?:(?<![.!?;])[.!?;]++(?=\s)[^\S\n]*\n*|[\u3002\uff01\uff1f\uff1b]+[^\S\n]*\n*|\n+|\Z)|\n+",
    re.DOTALL,
)
# The share of words that stay from which on a sentence counts as edited, else as rewritten.
MIN_SIMILARITY = 0.55
# Sentences with fewer words in common are not compared at all.
MIN_LIKENESS = 0.35
# Above this product of their numbers sentences are paired with one of the next few, not with the best of all.
PAIRS_WEIGHED = 1_000
NEXT_FEW = 20

Kind = Literal["same", "added", "removed", "folded", "skipped"]
Step = tuple[Kind, str]
Words = frozenset[str]


def compare_sentences(old: str, new: str) -> Iterator[Step]:
    old_sentences, new_sentences = SENTENCE.findall(old), SENTENCE.findall(new)
    if max(len(old_sentences), len(new_sentences)) > SENTENCES_COMPARED:
        yield from _replaced(old, new)
        return
    for before, after in matched(old_sentences, new_sentences):
        yield from _same("".join(before)) if before == after else _pair_by_pair(before, after)


def matched(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Runs of old and new items in order, by the longest common subsequence; both are equal where it runs."""
    # Here, as each start of a hub would load it.
    from rapidfuzz.distance import LCSseq

    old_end = new_end = 0
    for block in LCSseq.opcodes(old, new).as_matching_blocks():
        if old_end < block.a or new_end < block.b:
            yield old[old_end : block.a], new[new_end : block.b]
        old_end, new_end = block.a + block.size, block.b + block.size
        if block.size:
            yield old[block.a : old_end], new[block.b : new_end]


def split_common(old: Sequence[str], new: Sequence[str]) -> tuple[str, Sequence[str], Sequence[str], str]:
    """The common prefix, the differing middle of each, and the common suffix."""
    begin = _count_equal(zip(old, new, strict=False))
    rest = min(len(old), len(new)) - begin
    end = _count_equal(islice(zip(reversed(old), reversed(new), strict=False), rest))
    before, after = old[begin : len(old) - end], new[begin : len(new) - end]
    return "".join(old[:begin]), before, after, "".join(old[len(old) - end :])


def grouped(steps: Iterable[Step]) -> list[Step]:
    """Adjacent steps of a kind as one, without empty ones."""
    nonempty = ((kind, text) for kind, text in steps if text)
    return [
        (kind, "".join(text for _, text in run)) for kind, run in groupby(nonempty, key=lambda step: step[0])
    ]


def _count_equal(pairs: Iterable[tuple[str, str]]) -> int:
    """The number of leading pairs whose two members are equal."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _same(text: str) -> list[Step]:
    return [("same", text)]


def _replaced(old: str, new: str) -> list[Step]:
    """One after the other; blank lines behind both are the same."""
    blank = max(min(map(_trailing_newlines, (old, new))) - 1, 0)
    before, after = old[: len(old) - blank], new[: len(new) - blank]
    return [("removed", before), ("added", after), ("same", "\n" * blank)]


def _trailing_newlines(text: str) -> int:
    return len(text) - len(text.rstrip("\n"))


# -- Which sentence became which -------------------------------------------------------------------


def _pair_by_pair(old: Sequence[str], new: Sequence[str]) -> Iterator[Step]:
    old_end = new_end = 0
    for at, to in _pairs(old, new):
        yield from _replaced("".join(old[old_end:at]), "".join(new[new_end:to]))
        yield from compare_words(old[at], new[to])
        old_end, new_end = at + 1, to + 1
    yield from _replaced("".join(old[old_end:]), "".join(new[new_end:]))


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The places of old sentences and of the new ones that they became, in order."""
    if len(old) == len(new) == 1:
        return [(0, 0)]
    old_words, new_words = [_set_of_words(text) for text in old], [_set_of_words(text) for text in new]
    pair = _best_pairs if len(old) * len(new) <= PAIRS_WEIGHED else _next_pairs
    return list(pair(old_words, new_words))


def _best_pairs(old: Sequence[Words], new: Sequence[Words]) -> Iterator[tuple[int, int]]:
    """The pairs with the greatest likeness in total."""
    weights = [[_likeness(before, after) for after in new] for before in old]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for at in reversed(range(len(old))):
        for to in reversed(range(len(new))):
            paired = best[at + 1][to + 1] + weights[at][to]
            best[at][to] = max(paired, best[at + 1][to], best[at][to + 1])
    at = to = 0
    while at < len(old) and to < len(new):
        if weights[at][to] and best[at][to] == best[at + 1][to + 1] + weights[at][to]:
            yield at, to
            at, to = at + 1, to + 1
        elif best[at][to] == best[at + 1][to]:
            at += 1
        else:
            to += 1


def _next_pairs(old: Sequence[Words], new: Sequence[Words]) -> Iterator[tuple[int, int]]:
    """Each old sentence with the most similar of the next few new ones."""
    end = 0
    for at, before in enumerate(old):
        few = new[end : end + NEXT_FEW]
        likeness, negative = max(
            ((_likeness(before, after), -to) for to, after in enumerate(few)), default=(0, 0)
        )
        if likeness:
            yield at, end - negative
            end += 1 - negative


def _likeness(old: Words, new: Words) -> float:
    """The share of common words from 0.0 to 1.0; 0.0 below MIN_LIKENESS."""
    likeness = 2 * len(old & new) / max(len(old) + len(new), 1)
    return likeness if likeness >= MIN_LIKENESS else 0.0


def _set_of_words(text: str) -> Words:
    return frozenset(VISIBLE_WORD.findall(text))


# -- The words of a sentence -----------------------------------------------------------------------


def compare_words(old: str, new: str) -> list[Step]:
    """The words that differ, or the whole sentences if most words do."""
    prefix, before, after, suffix = split_common(WORD.findall(old), WORD.findall(new))
    steps = grouped([("same", prefix), *_changed_words(before, after), ("same", suffix)])
    return steps if _is_edited(steps) else _replaced(old, new)


def _changed_words(old: Sequence[str], new: Sequence[str]) -> list[Step]:
    if not old or not new or max(len(old), len(new)) > WORDS_COMPARED:
        return _replaced("".join(old), "".join(new))
    runs = [("".join(before), "".join(after)) for before, after in matched(old, new)]
    return [
        step
        for before, after in _without_islands(runs)
        for step in (_same(before) if before == after else _replaced(before, after))
    ]


def _without_islands(runs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The runs, where an equal one that is shorter than the changes on both sides joins them."""
    found: list[tuple[str, str]] = []
    for run in runs:
        found.append(run)
        while len(found) >= 3 and _is_island(*found[-3:]):
            before, after = zip(*found[-3:], strict=True)
            found[-3:] = [("".join(before), "".join(after))]
    return found


def _is_island(left: tuple[str, str], middle: tuple[str, str], right: tuple[str, str]) -> bool:
    if middle[0] != middle[1] or left[0] == left[1] or right[0] == right[1]:
        return False
    return not middle[0].strip() or len(middle[0].strip()) <= min(
        max(map(len, side)) for side in (left, right)
    )


def _is_edited(steps: Sequence[Step]) -> bool:
    """Whether most words stay, in few runs, or one run of words was only added or only removed."""
    counts: Counter[Kind] = Counter()
    for kind, text in steps:
        counts[kind] += len(VISIBLE_WORD.findall(text))
    same, changed = counts["same"], counts["removed"] + counts["added"]
    changes = sum(kind != "same" for kind, _ in steps)
    if same and changes <= 1:
        return True
    places = sum(1 for is_same, _ in groupby(steps, key=lambda step: step[0] == "same") if not is_same)
    return 2 * same >= MIN_SIMILARITY * (2 * same + changed) and places <= 2 + same // 4
