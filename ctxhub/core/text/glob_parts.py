"""The parts of a glob: its segments, and of each segment the characters that it matches."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ctxhub.core.kit.frozen import frozen

WILDCARDS = frozenset("*?[")
LAST_CHARACTER = 0x10FFFF

Gap = None
"""A token that matches any number of any tokens: `**` among segments, `*` among characters."""

Span = tuple[int, int]
"""The first and the last of some code points."""

# -- Segments --------------------------------------------------------------------------------------


def split_path(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


@lru_cache(maxsize=4_096)
def split_glob(pattern: str) -> tuple[str | None, ...]:
    """Return the segments, with a gap for `**` and after a trailing slash; never two gaps in a row."""
    segments = [Gap if part == "**" else part for part in split_path(pattern)]
    if pattern.endswith("/"):
        segments.append(Gap)
    return tuple(
        segment for n, segment in enumerate(segments) if n == 0 or not segment is segments[n - 1] is Gap
    )


def is_plain(segment: str) -> bool:
    return WILDCARDS.isdisjoint(segment)


# -- Characters ------------------------------------------------------------------------------------


@frozen
class Characters:
    """A character class: one character in any of the spans of code points, or, if negated, in none."""

    spans: tuple[Span, ...]
    negated: bool = False

    def possible(self) -> Sequence[Span]:
        """The spans of the characters that it matches, in order and apart; never a slash."""
        excluded = self.spans if self.negated else _complement(self.spans)
        return _complement([*excluded, (SLASH, SLASH)])

    def regex(self) -> str:
        if not self.spans:
            return "[^/]"
        if not self.negated and len(self.spans) == 1 and self.spans[0][0] == self.spans[0][1]:
            return re.escape(chr(self.spans[0][0]))
        ranges = "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in self.spans)
        return f"(?!/)[{'^' if self.negated else ''}{ranges}]"


Token = Characters | None

ANY = Characters((), negated=True)
SLASH = ord("/")


def readings(segment: str, *, has_classes: bool = True) -> Iterator[list[Token]]:
    """Yield the tokens of a segment: with brackets as classes and, if there are any, as literals."""
    if has_classes:
        yield _tokens(segment)
    if "[" in segment or not has_classes:
        yield _tokens(segment, has_classes=False)


def _one(character: str) -> Characters:
    return Characters(((ord(character), ord(character)),))


def _tokens(segment: str, *, has_classes: bool = True) -> list[Token]:
    found: list[Token] = []
    position = 0
    while position < len(segment):
        token, position = _token(segment, position, has_classes)
        if token is not Gap or found[-1:] != [Gap]:
            found.append(token)
    return found


def _token(segment: str, position: int, has_classes: bool) -> tuple[Token, int]:
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


def _complement(spans: Iterable[Span]) -> list[Span]:
    """The spans of all characters that are in none of these."""
    outside: list[Span] = []
    start = 0
    for low, high in sorted(spans):
        if start < low:
            outside.append((start, low - 1))
        start = max(start, high + 1)
    if start <= LAST_CHARACTER:
        outside.append((start, LAST_CHARACTER))
    return outside
