"""Finds the Markdown headings of a pad's text."""

import re
from collections.abc import Iterator, Sequence

from ctxhub.core.kit.frozen import frozen

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")


@frozen
class Heading:
    """A Markdown heading: its level, text and line number."""

    level: int
    text: str
    line: int


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
