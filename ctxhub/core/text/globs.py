"""Globs over paths: matching, and whether two globs overlap.

`*` and `?` match within a segment, `**` any number of segments (also none), `[a-z]` and `[!a-z]` one
character; `src/` matches everything below src. Brackets also match themselves, as frameworks name files
`[id].tsx`. Case-sensitive.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TypeVar

WILDCARDS = frozenset("*?[")
LAST_CHARACTER = 0x10FFFF

Gap = None
"""A token that matches any number of any tokens."""

TokenT = TypeVar("TokenT", bound=Hashable)
Span = tuple[int, int]

# -- Public functions ------------------------------------------------------------------------------


def is_glob(path: str) -> bool:
    """Whether the path has wildcards or ends in a slash, so that it may match other paths."""
    return path.endswith("/") or not WILDCARDS.isdisjoint(path)


def matches(pattern: str, path: str) -> bool:
    return bool(_compiled(pattern).match("/".join(_parts(path)) + "/"))


def overlap(first: str, second: str) -> bool:
    """Whether there is a path that both match."""
    one, other = _segments(first), _segments(second)
    return not _differ(one, other) and _meet(one, other, _segments_meet)


def head(pattern: str) -> str:
    """Return the first segment that all its paths begin with; "" if they may differ in it."""
    first = _segments(pattern)[:1]
    return "" if first in ((), (Gap,)) or is_glob(str(first[0])) else str(first[0])


def literal_start(pattern: str) -> str:
    """Return the literal prefix of all its paths."""
    return re.split(r"[*?[]", "/".join(_parts(pattern)), maxsplit=1)[0].rstrip("/")


def as_regex(pattern: str, *, atomic: str = "(?>") -> str:
    """Return the glob as a regular expression for the path followed by a slash.

    Atomic groups match each part between two wildcards at its first position, without backtracking, so no
    pattern is slow. For engines that need no such guarantee `atomic` is "(?:".
    """
    groups = _split([None if s is Gap else f"{_segment_regex(s, atomic)}/" for s in _segments(pattern)])
    return rf"\A{_joined(groups, '(?:[^/]+/)', atomic)}\Z"


# -- Two sequences with gaps -----------------------------------------------------------------------


def _meet(
    first: Sequence[TokenT | None],
    second: Sequence[TokenT | None],
    meets: Callable[[TokenT, TokenT], bool],
) -> bool:
    """Whether some sequence matches both `first` and `second`.

    The bits of `reached` are the positions in `first` that may be reached with the tokens of `second` so far.
    """
    gaps = _bits(n for n, token in enumerate(first) if token is None)
    everywhere = (1 << (len(first) + 1)) - 1
    matching: dict[TokenT, int] = {}
    reached = 1 | (gaps & 1) << 1
    for token in second:
        if token is None:
            lowest = reached & -reached
            reached = everywhere & ~(lowest - 1)
        else:
            if token not in matching:
                matching[token] = _bits(n for n, t in enumerate(first) if t is not None and meets(t, token))
            reached = (reached & matching[token]) << 1 | (reached & gaps)
        reached |= (reached & gaps) << 1
        if not reached:
            return False
    return bool(reached >> len(first))


def _bits(positions: Iterable[int]) -> int:
    bits = 0
    for position in positions:
        bits |= 1 << position
    return bits


# -- Segments --------------------------------------------------------------------------------------


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


@lru_cache(maxsize=4_096)
def _segments(pattern: str) -> tuple[str | None, ...]:
    """Return the segments, with a gap for `**` and after a trailing slash; never two gaps in a row."""
    segments = [Gap if part == "**" else part for part in _parts(pattern)]
    if pattern.endswith("/"):
        segments.append(Gap)
    return tuple(
        segment for n, segment in enumerate(segments) if n == 0 or not segment is segments[n - 1] is Gap
    )


def _differ(first: Sequence[str | None], second: Sequence[str | None]) -> bool:
    """Whether two plain segments before a gap differ, as they do in most of many globs: soon told."""
    for one, other in zip(first, second, strict=False):
        if one is None or other is None:
            return False
        if one != other and _is_plain(one) and _is_plain(other):
            return True
    return False


def _is_plain(segment: str) -> bool:
    return WILDCARDS.isdisjoint(segment)


@lru_cache(maxsize=4_096)
def _segments_meet(first: str, second: str) -> bool:
    if first == second or (_is_plain(first) and _is_plain(second)):
        return first == second
    return any(_meet(one, other, _spans_meet) for one in _readings(first) for other in _readings(second))


def _readings(segment: str) -> Iterator[list["Characters | None"]]:
    """Yield the tokens of a segment: with brackets as classes and, if there are any, as literals."""
    yield _tokens(segment)
    if "[" in segment:
        yield _tokens(segment, has_classes=False)


# -- Characters ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Characters:
    """A character class: one character in any of the spans of code points, or, if negated, in none."""

    spans: tuple[Span, ...]
    negated: bool = False

    def possible(self) -> Sequence[Span]:
        if not self.negated:
            return self.spans
        edges = [-1, *(edge for span in _merged(self.spans) for edge in span), LAST_CHARACTER + 1]
        gaps = zip(edges[::2], edges[1::2], strict=True)
        return [(low + 1, high - 1) for low, high in gaps if low + 1 <= high - 1]

    def regex(self) -> str:
        if not self.spans:
            return "[^/]"
        if not self.negated and len(self.spans) == 1 and self.spans[0][0] == self.spans[0][1]:
            return re.escape(chr(self.spans[0][0]))
        ranges = "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in self.spans)
        return f"(?!/)[{'^' if self.negated else ''}{ranges}]"


ANY = Characters((), negated=True)


def _one(character: str) -> Characters:
    return Characters(((ord(character), ord(character)),))


def _tokens(segment: str, *, has_classes: bool = True) -> list[Characters | None]:
    found: list[Characters | None] = []
    position = 0
    while position < len(segment):
        token, position = _token(segment, position, has_classes)
        if token is not Gap or found[-1:] != [Gap]:
            found.append(token)
    return found


def _token(segment: str, position: int, has_classes: bool) -> tuple[Characters | None, int]:
    match segment[position]:
        case "*":
            return Gap, position + 1
        case "?":
            return ANY, position + 1
        case "[" if has_classes and (end := _class_end(segment, position)) > 0:
            return _class(segment[position + 1 : end]), end + 1
        case character:
            return _one(character), position + 1


def _class_end(segment: str, position: int) -> int:
    """Return the index of the closing bracket, or -1. A bracket right after the opening one is a literal."""
    start = position + (2 if segment[position + 1 : position + 2] in ("!", "^") else 1)
    return segment.find("]", start + 1)


def _class(body: str) -> Characters:
    negated = body[:1] in ("!", "^")
    spans: list[Span] = []
    for low, high, single in re.findall(r"(?s)(.)-(.)|(.)", body[1:] if negated else body):
        ends = sorted((ord(low), ord(high)) if low else (ord(single), ord(single)))
        spans.append((ends[0], ends[1]))
    return Characters(tuple(spans), negated)


def _spans_meet(first: Characters, second: Characters) -> bool:
    return any(
        max(low, other_low) <= min(high, other_high)
        for low, high in first.possible()
        for other_low, other_high in second.possible()
    )


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


# -- As regular expressions ------------------------------------------------------------------------


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(as_regex(pattern))


def _segment_regex(segment: str, atomic: str) -> str:
    readings = [
        _joined(_split([token.regex() if token else Gap for token in tokens]), "[^/]", atomic)
        for tokens in _readings(segment)
    ]
    return f"{atomic}(?:{'|'.join(readings)})(?=/))" if len(readings) > 1 else readings[0]


def _split(texts: Sequence[str | None]) -> list[str]:
    """Split a sequence at its gaps and join the texts between them."""
    groups = [list(group) for _, group in groupby(texts, key=lambda text: text is None)]
    joined = ["" if group == [None] else "".join(map(str, group)) for group in groups]
    first = [""] if texts[:1] == [None] else []
    last = [""] if texts[-1:] == [None] else []
    return [*first, *(text for text, group in zip(joined, groups, strict=True) if group != [None]), *last]


def _joined(groups: Sequence[str], step: str, atomic: str) -> str:
    first, *rest = groups or [""]
    between = "".join(f"{atomic}{step}*?{group})" for group in rest[:-1])
    return f"{first}{between}{step}*{rest[-1]}" if rest else first
