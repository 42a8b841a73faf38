"""A pad's text as lines: stretches of it, and its headings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxhub.core.errors import InvalidInput, shown

_RANGE = re.compile(r"(\d{1,9})\s*(?:(-)\s*(\d{1,9})?)?", re.ASCII)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of Markdown: how deep, what it says, in which line."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Slice:
    """Some lines of a text, from `first` on, 1 being the text's first; `total` is how many it has."""

    lines: Sequence[str]
    first: int
    total: int

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1

    @property
    def spoken(self) -> str:
        return f"{self.first}-{self.last}"


def split_lines(text: str) -> list[str]:
    """The lines of a text. A line break at its end ends the last one; an empty text has none."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def slice_of(text: str, lines: str | None, tail: int | None) -> Slice:
    """What `lines` ("10-40", "10", "10-") or `tail` asks for, as far as it is there; else the whole."""
    found = split_lines(text)
    first, last = read_range(lines) if lines is not None else (1, None)
    if tail is not None:
        first = max(len(found) - tail + 1, 1)
    return Slice(found[first - 1 : last], first, len(found))


def read_range(lines: str) -> tuple[int, int | None]:
    """The first line and the last; None: to the end."""
    if said := _RANGE.fullmatch(lines.strip()):
        first = int(said[1])
        last = int(said[3]) if said[3] else None if said[2] else first
        if first >= 1 and (last is None or last >= first):
            return first, last
    raise InvalidInput(f"lines: {shown(lines)} is no range of lines.", hint='Use "10-40", "10" or "10-".')


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """The headings of a text of Markdown, but nothing in a fence of code."""
    fence = ""
    for number, line in enumerate(lines, start=1):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = ""
        elif found:
            fence = found[1]
        elif heading := _HEADING.fullmatch(line):
            yield Heading(len(heading[1]), (heading[2] or "").strip(), number)
