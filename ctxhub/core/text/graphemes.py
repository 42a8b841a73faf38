"""Boundaries of sentences, words and graphemes, where a text may be cut."""

import unicodedata
from itertools import accumulate

from ctxhub.core.text.lazy_patterns import lazy_pattern

Span = tuple[int, int]

MAX_FLAG_LETTERS = 100

_STOPS = "\u3002\uff01\uff1f\uff1b"
# It begins with one set of characters, which `re` looks for four times as fast as for alternatives.
_SENTENCE_END = lazy_pattern(
    rf"""[\n.!?{_STOPS}](?:(?<=\n)|(?<=[.!?])[.!?]*["'\u2019\u201d)\]]*(?=\s)"""
    rf"|(?<=[{_STOPS}])[{_STOPS}]*[\u2019\u201d\u300d\u300f\uff09]*)"
)
# Scripts without blanks, and emoji, are cut at any character. Korean has blanks.
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2600-\u27bf\u3000-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\uff00-\uffef\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
# Never cut: a word with its punctuation; of a longer one (a path, JSON) a part between punctuation.
_ATOM = lazy_pattern(rf"\s+|[{_DENSE}]|[^\s{_DENSE}]{{1,24}}(?![^\s{_DENSE}])|\w{{1,40}}[^\w\s{_DENSE}]*|.")
# Besides marks: code points that continue the grapheme before them.
_TAIL = lazy_pattern(
    "[\u0e33\u0eb3\u1160-\u11ff\u200c\u200d\uff9e\uff9f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
    "|(?<=\u200d).|(?<=[\ud800-\udbff])[\udc00-\udfff]"
)


def sentences(text: str) -> list[Span]:
    """Return adjacent spans that together are the text. A line break ends a sentence, too."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    ends = [end for end in ends if end < len(text) and not is_tail(text, end)]
    return list(zip([0, *ends], [*ends, len(text)], strict=True))


def breaks(text: str, start: int, end: int) -> list[int]:
    """Return the offsets between `start` and `end` where neither a word nor a grapheme is cut."""
    offsets = list(accumulate(map(len, _ATOM.findall(text, start, end)), initial=start))[1:-1]
    if text.isascii():
        return offsets
    return [offset for offset in offsets if text[offset] < "\x80" or not is_tail(text, offset)]


def widened(text: str, core: Span, within: Span, reach: int) -> list[Span]:
    """Return growing spans around the core, with at most `reach` more characters on each side."""
    start, end = whole_graphemes(text, core)
    first, last = max(within[0], start - reach), min(within[1], end + reach)
    offsets = [*breaks(text, first, start), *breaks(text, end, last)]
    offsets += [offset for offset in (first, last) if offset in within]
    distances = [start - offset if offset < start else offset - end for offset in offsets]
    found = [(start, end)]
    for place in sorted(range(len(offsets)), key=distances.__getitem__):
        offset = offsets[place]
        if offset < start:
            start = offset
        elif offset > end:
            end = offset
        found.append((start, end))
    return found if found[0][0] < found[0][1] else [span for span in found if span[0] < span[1]]


def characters(text: str, start: int, reach: int) -> list[Span]:
    """Return growing spans from the grapheme at `start` on, each one grapheme longer."""
    start, _ = whole_graphemes(text, (start, start))
    ends = range(start + 1, min(start + reach, len(text)) + 1)
    return [(start, end) for end in ends if not is_tail(text, end)]


def is_tail(text: str, at: int) -> bool:
    """Whether the code point at `at` continues the grapheme before it: a mark, half a flag, ..."""
    if not 0 < at < len(text) or text[at].isascii():
        return False
    if unicodedata.category(text[at]).startswith("M") or _TAIL.match(text, at):
        return True
    return _is_flag_letter(text[at]) and _flag_letters_before(text, at) % 2 == 1


def whole_graphemes(text: str, span: Span) -> Span:
    """Return the span, widened to whole graphemes at both ends."""
    start, end = span
    if text.isascii():
        return span
    while start > 0 and is_tail(text, start):
        start -= 1
    while end < len(text) and is_tail(text, end):
        end += 1
    return start, end


def _flag_letters_before(text: str, at: int) -> int:
    start, lowest = at, max(at - MAX_FLAG_LETTERS, 0)
    while start > lowest and _is_flag_letter(text[start - 1]):
        start -= 1
    return at - start


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
