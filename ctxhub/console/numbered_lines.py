"""Renders a raw text by lines, each with its number and anchor."""

from collections.abc import Sequence

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.text.lines import split_lines

LINES_SHOWN = 2_000


@frozen
class NumberedLines:
    """A page of a text: lines `first` to `last`; `before`, `after`: first lines of the adjacent pages."""

    html: SafeString
    first: int
    last: int
    total: int
    before: int | None
    after: int | None


def numbered_lines(text: str, around: str = "") -> NumberedLines:
    """The page with the line `around`; the first page if it is not a line number."""
    lines = split_lines(text)
    line = min(read_id(around) or 1 if around else 1, max(len(lines), 1))
    start = (line - 1) // LINES_SHOWN * LINES_SHOWN
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
    """Line numbers are outside the text, so that copying the text leaves them out."""
    line = '<li id="L{0}"><a href="#L{0}" data-line="{0}" aria-label="Line {0}"></a><code>{1}</code></li>'
    return format_html_join("", line, enumerate(lines, start=first))
