"""Finds the Markdown headings of a pad's text."""

import re
from collections.abc import Iterator

from ctxhub.core.kit.frozen import frozen

# Only beginnings, each matched in one way: a heading of a mebibyte takes no longer than its length.
_LINE = re.compile(r"^ {0,3}(?:(#{1,6})(?=[ \t]|\r?$)|(`{3,}|~{3,}))([^\n]*)", re.MULTILINE)


@frozen
class Heading:
    """A Markdown heading: its level, text and line number."""

    level: int
    text: str
    line: int


def headings(text: str) -> Iterator[Heading]:
    """The headings of a Markdown text, outside fenced code blocks."""
    line, at = 1, 0
    for found in _heading_lines(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        yield Heading(len(found[1]), _text_of(found[3]), line)


def outline(text: str, at_most: int) -> tuple[list[Heading], int]:
    """The first headings, and how many there are in all."""
    first, count = [], 0
    for count, heading in enumerate(headings(text), start=1):
        if count > at_most:
            break
        first.append(heading)
    return first, count if count <= at_most else sum(1 for _ in _heading_lines(text))


def _heading_lines(text: str) -> Iterator[re.Match[str]]:
    fence = ""
    for found in _LINE.finditer(text):
        mark = found[2]
        if mark is None:
            if not fence:
                yield found
        elif fence:
            if mark.startswith(fence) and not found[3].strip():
                fence = ""
        elif mark[0] != "`" or "`" not in found[3]:
            fence = mark


def _text_of(rest: str) -> str:
    """What follows the first marks of a heading, without the closing ones."""
    text = rest.lstrip(" \t").removesuffix("\r").rstrip(" \t")
    open_text = text.rstrip("#")
    return (open_text if open_text.endswith((" ", "\t")) else text).strip()
