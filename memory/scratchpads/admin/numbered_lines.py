"""A text as it is, line by line: each has its number and its address."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from ctxhub.core.kit.inputs import read_id
from memory.scratchpads.selectors.lines import split_lines

LINES_SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class NumberedLines:
    """A page of a text: its lines from `first` to `last`, and the first ones of the pages beside it."""

    html: SafeString
    first: int
    last: int
    total: int
    before: int | None
    after: int | None


def numbered_lines(text: str, around: str = "") -> NumberedLines:
    """The page that holds the line `around`; the first where that is no line."""
    lines = split_lines(text)
    wanted = min(read_id(around) or 1 if around else 1, max(len(lines), 1))
    start = (wanted - 1) // LINES_SHOWN * LINES_SHOWN
    shown = lines[start : start + LINES_SHOWN]
    return NumberedLines(
        html=_html(shown, start + 1),
        first=start + 1,
        last=start + len(shown),
        total=len(lines),
        before=start - LINES_SHOWN + 1 if start else None,
        after=start + LINES_SHOWN + 1 if start + LINES_SHOWN < len(lines) else None,
    )


def _html(lines: Sequence[str], first: int) -> SafeString:
    """The number is no part of the text: neither is it copied with it."""
    line = '<li id="L{0}"><a href="#L{0}" data-line="{0}" aria-label="Line {0}"></a><code>{1}</code></li>'
    return format_html_join("", line, enumerate(lines, start=first))
