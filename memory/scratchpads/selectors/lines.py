"""A pad's text as lines, and its headings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of Markdown: how deep, what it says, in which line."""

    level: int
    text: str
    line: int


def split_lines(text: str) -> list[str]:
    """The lines of a text. A line break at its end ends the last one; an empty text has none."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


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
