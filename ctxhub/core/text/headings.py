"""Finds the Markdown headings of a text, underlined ones too, and the sections that they begin."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.front_matter import front_matter_end
from ctxhub.core.text.lazy_patterns import lazy_pattern

# Only beginnings, each matched in one way: a heading of a mebibyte takes no longer than its length.
_LINE = re.compile(
    r"^ {0,3}(?:(#{1,6})(?=[ \t]|\r?$)|(`{3,}|~{3,})|(={2,}|-{2,})(?=[ \t]*\r?$))([^\n]*)", re.MULTILINE
)
_BREAK = lazy_pattern(r"(?:[*][ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,}")
# Over a line of dashes, but no heading: an entry of a list, a quote, a row of a table, HTML.
_NO_HEADING = lazy_pattern(r"[-+*](?:\s|$)|\d{1,9}[.)](?:\s|$)|>|\||</?[a-zA-Z][\w-]*(?:[\s/>]|$)|<[!?]")
_ROW_OF_DASHES = lazy_pattern(r"(?=.*\|)(?=.*-)[-:| \t]+")
_INDENTED = ("    ", "\t")


@frozen
class Heading:
    """A Markdown heading: its level, its text, the number of its line, and of how many lines it is."""

    level: int
    text: str
    line: int
    height: int = 1


@frozen
class Section:
    """A heading and what stands below it, up to the next heading of its level or a higher one.

    `last` is the number of its last line; `size` counts characters, those of the heading too.
    """

    heading: Heading
    last: int
    size: int


@frozen(slots=True)
class _Mark:
    """The place of a heading in a text: of its first line, of its text, and of what follows it."""

    level: int
    start: int
    title: int
    title_end: int
    end: int

    def heading(self, text: str, line: int) -> Heading:
        title = text[self.title : self.title_end]
        is_underlined = self.end > self.title_end
        shown = title.strip() if is_underlined else _without_closing_marks(title)
        return Heading(self.level, shown, line, 1 + is_underlined)


def headings(text: str) -> Iterator[Heading]:
    """The headings of a Markdown text, outside of fenced code and front matter."""
    line, at = 1, 0
    for mark in _marks(text):
        line += text.count("\n", at, mark.start)
        at = mark.start
        yield mark.heading(text, line)


@lru_cache(1)
def has_headings(text: str) -> bool:
    return next(headings(text), None) is not None


def sections(text: str) -> Iterator[Section]:
    """The sections of a text, each with those inside it."""
    return _sections(text, list(_marks(text)), None)


def outline(text: str, at_most: int) -> tuple[list[Section], int]:
    """The first sections, and how many there are in all."""
    marks = list(_marks(text))
    return list(_sections(text, marks, at_most)), len(marks)


def without_first_headings(text: str) -> str:
    """A text from its first line that is no heading; the text itself if it has only headings."""
    start = 0
    for mark in _marks(text):
        if text[start : mark.start].strip():
            break
        start = mark.end
    return text[start:].lstrip() or text


def _sections(text: str, marks: Sequence[_Mark], at_most: int | None) -> Iterator[Section]:
    line, at = 1, 0
    for mark, end in islice(zip(marks, _ends(marks, len(text)), strict=True), at_most):
        line += text.count("\n", at, mark.start)
        at = mark.start
        yield Section(mark.heading(text, line), line + text.count("\n", at, end - 1), end - at)


def _ends(marks: Sequence[_Mark], length: int) -> list[int]:
    """Where each section ends."""
    ends = [length] * len(marks)
    open_marks: list[int] = []
    for number, mark in enumerate(marks):
        while open_marks and marks[open_marks[-1]].level >= mark.level:
            ends[open_marks.pop()] = mark.start
        open_marks.append(number)
    return ends


def _marks(text: str) -> Iterator[_Mark]:
    fence, floor = "", front_matter_end(text)
    for found in _LINE.finditer(text, floor):
        marks, fenced, underline, rest = found.groups()
        if fence:
            if fenced and fenced.startswith(fence) and not rest.strip():
                fence = ""
        elif marks:
            yield _Mark(len(marks), found.start(), found.start(4), found.end(), found.end())
        elif underline:
            if (start := _underlined(text, floor, found.start())) is not None:
                level = 1 if underline[0] == "=" else 2
                yield _Mark(level, start, start, found.start(), found.end())
        elif fenced[0] != "`" or "`" not in rest:
            fence = fenced
        floor = found.end()


def _underlined(text: str, floor: int, end: int) -> int | None:
    """The beginning of the line over a line of dashes; None if that makes no heading of it.

    To Markdown the whole paragraph is the heading; to those who write without blank lines, its last line.
    """
    last, start = max(text.rfind("\n", 0, end - 1) + 1, floor), end
    if text.startswith(_INDENTED, last):
        return None
    while start > floor:
        before = max(text.rfind("\n", 0, start - 1) + 1, floor)
        line = text[before:start].strip()
        if not line or _BREAK.fullmatch(line):
            break
        if _is_no_heading(line):
            return None
        start = before
    return last if start < end else None


def _is_no_heading(line: str) -> bool:
    return bool(_NO_HEADING.match(line) or _ROW_OF_DASHES.fullmatch(line))


def _without_closing_marks(rest: str) -> str:
    text = rest.lstrip(" \t").removesuffix("\r").rstrip(" \t")
    open_text = text.rstrip("#")
    return (open_text if open_text.endswith((" ", "\t")) else text).strip()
