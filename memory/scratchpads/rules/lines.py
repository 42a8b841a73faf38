"""Splits a pad's text into lines and finds its Markdown headings."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")


@dataclass(frozen=True, slots=True)
class Heading:
    """A Markdown heading: its level, text and line number."""

    level: int
    text: str
    line: int


def split_lines(text: str) -> list[str]:
    """The lines of a text. A trailing line break ends the last line; an empty text has no lines."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """The headings of a Markdown text, outside fenced code blocks."""
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
