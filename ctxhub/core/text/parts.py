"""Parts of a long text: line ranges (`lines`, `tail`), and truncation to a token budget."""

import json
import re
from bisect import bisect_right
from dataclasses import replace
from typing import Any, Self

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.graphemes import is_tail
from ctxhub.core.text.token_count import count_tokens, is_within

# The most characters of a token, except in long runs of one character.
CHARACTERS_PER_TOKEN = 12
# The budget of a part if the given one has no room for a single character.
LEAST_TOKENS = 20
LONGEST_CHARACTER = 100
STEP = 4_096

FORMS = (
    'Use "10-40", "10-", "12", "12@21000-" (from the 21,000th character of line 12 on) or `next_lines` as it '
    'was given; "rationale:1-" reads another text than the main one.'
)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_RANGE = re.compile(
    r"(?:([a-z_]{1,50})\s*:\s*)?(\d{1,9})(?:@(\d{1,9}))?\s*(?:(-)\s*(\d{1,9})?)?", re.ASCII | re.IGNORECASE
)


@frozen
class LineRange:
    """The argument `lines`, parsed: `[FIELD:]LINE[@CHARACTER][-[LINE]]`, all counted from 1.

    `field` is "" for the main text; `last` is None if the range goes to the end of the text. Characters are
    code points, as `length` counts them; the line break is the last character of a line.
    """

    first: int
    character: int = 1
    last: int | None = None
    field: str = ""

    @classmethod
    def read(cls, lines: str) -> Self:
        """Parse the argument. Raises InvalidInput with the valid forms."""
        if match := _RANGE.fullmatch(lines.strip()):
            first, character = int(match[2]), int(match[3] or 1)
            last = int(match[5]) if match[5] else None if match[4] else first
            if first >= 1 and character >= 1 and (last is None or last >= first):
                return cls(first, character, last, (match[1] or "").lower())
        raise InvalidInput(f"lines: {shown(lines)} is no range of lines.", hint=FORMS)


@frozen
class TextPart:
    """The characters of a text from `start` up to `end`.

    `is_closed`: it ends before the break of its last line, as "10-40" does within the text.
    """

    text: str
    start: int
    end: int
    is_closed: bool = False

    @property
    def content(self) -> str:
        return self.text[self.start : self.end]

    @property
    def lines(self) -> str:
        """The line range of this part in the syntax of `lines` ("10-40"); "" if it has none."""
        if self.start == self.end and not self.is_closed:
            return ""
        last = _line_at(self.text, self.end if self.is_closed else self.end - 1)
        return f"{_position(self.text, self.start)}-{last}"

    def within(self, max_tokens: int) -> Self:
        """Truncate to at most so many tokens of JSON: to whole lines, else within the first line.

        Keeps at least one character, however small the budget, so that reading on always reaches the end.
        Neither a grapheme of several code points nor "\\r\\n" is cut.
        """
        reach = min(self.end, self.start + CHARACTERS_PER_TOKEN * max(max_tokens, 1))
        ends = range(self.start + 1, reach + 1)
        fitting = bisect_right(ends, max_tokens, key=lambda end: json_tokens(self.text[self.start : end]))
        if self.start + fitting == self.end:
            return self
        if not fitting and max_tokens < LEAST_TOKENS:
            return self.within(LEAST_TOKENS)
        end = _cut(self.text, self.start, self.start + max(fitting, 1), self.end)
        return self if end == self.end else replace(self, end=end, is_closed=False)

    def rest_after(self, part: "TextPart") -> str:
        """Return the range after its beginning `part`, in the syntax of `lines`: "41-80", "12@21000-"."""
        position = _position(self.text, part.end)
        if self.is_closed:
            return f"{position}-{_line_at(self.text, self.end)}"
        return f"{position}-" if "@" in position else f"{position}-{count_lines(self.text)}"


def part_of(text: str, wanted: LineRange | None = None, tail: int | None = None) -> TextPart:
    """Return the requested lines, as far as they exist, or the last ones (`tail`); else the whole text.

    A range that includes the last line includes its line break.
    """
    if tail is not None:
        return TextPart(text, _start_of(text, max(count_lines(text) - tail + 1, 1)), len(text))
    if wanted is None:
        return TextPart(text, 0, len(text))
    total = count_lines(text)
    if wanted.first > total:
        return TextPart(text, len(text), len(text))
    is_closed = wanted.last is not None and wanted.last < total
    end = _end_of(text, wanted.last) if is_closed and wanted.last else len(text)
    behind = _start_of(text, wanted.first + 1)
    start = min(_start_of(text, wanted.first) + wanted.character - 1, behind, end)
    return TextPart(text, start, end, is_closed)


def count_lines(text: str) -> int:
    """Count the lines. A line break at the end ends the last line; an empty text has 0."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def lines_around(text: str, start: int, end: int) -> str:
    """The lines that a part of a text is in, in the syntax of `lines`; of a very long line the rest of it."""
    line_start = text.rfind("\n", 0, start) + 1
    return TextPart(text, line_start if start - line_start < STEP else start, end).lines


def json_tokens(value: Any) -> int:
    """Return the token cost of a value as compact JSON, as it is sent."""
    return count_tokens(as_json(value))


def is_json_within(value: Any, max_tokens: int) -> bool:
    """Whether a value costs at most so many tokens as compact JSON."""
    return is_within(as_json(value), max_tokens)


def as_json(value: Any) -> str:
    return _encode(value)


def whole_characters(text: str, end: int) -> int:
    """Return the last offset up to `end` that cuts no grapheme; 0 if there is none."""
    offset = end
    while offset > 0 and _is_inside(text, offset):
        offset -= 1
    return offset


def _cut(text: str, start: int, end: int, limit: int) -> int:
    """Return where a part of at most `end` ends: after a line, else before a near blank or a grapheme.

    Extends up to `limit` if the first grapheme alone is longer.
    """
    if line_break := text.rfind("\n", start, end) + 1:
        return line_break
    blank = text.rfind(" ", (start + end) // 2, end + 1)
    if blank > start:
        return blank
    lowest = max(start, end - LONGEST_CHARACTER)
    for offset in range(end, lowest, -1):
        if not _is_inside(text, offset):
            return offset
    if lowest > start:
        return end
    following = range(end, min(end + LONGEST_CHARACTER, limit))
    return next((offset for offset in following if not _is_inside(text, offset)), following.stop)


def _is_inside(text: str, offset: int) -> bool:
    return is_tail(text, offset) or text[offset - 1 : offset + 1] == "\r\n"


def _position(text: str, at: int) -> str:
    """Return the position of an offset: "12", or "12@21000" within a line."""
    character = at - text.rfind("\n", 0, at)
    return f"{_line_at(text, at)}{f'@{character}' if character > 1 else ''}"


def _line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _end_of(text: str, line: int) -> int:
    """Return the offset of the break of a line that is not the last."""
    end = _start_of(text, line + 1) - 1
    return end - 1 if text[end - 1 : end] == "\r" else end


def _start_of(text: str, line: int) -> int:
    """Return the offset of a line, counted from 1; the end of the text for a line after the last."""
    offset, left = 0, line - 1
    while offset + STEP < len(text) and (found := text.count("\n", offset, offset + STEP)) < left:
        offset, left = offset + STEP, left - found
    for _ in range(left):
        offset = text.find("\n", offset) + 1
        if not offset:
            return len(text)
    return offset
