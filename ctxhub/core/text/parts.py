"""Parts of a long text: which one a reader asks for (`lines`, `tail`), and where one that fits ends."""

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any, Self

from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.text.graphemes import is_tail
from ctxhub.core.text.token_count import count_tokens

# No token has more characters, but in long runs of one.
CHARACTERS_PER_TOKEN = 12
# What a part holds where the budget has no room for a single character.
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


@dataclass(frozen=True, slots=True)
class LineRange:
    """What `lines` names: `[FIELD:]LINE[@CHARACTER][-[LINE]]`, all counted from 1.

    `field` is "" for the main text; `last` is None where the range goes on to the text's end. Characters are
    code points, as `length` counts them; a line's break is its last character.
    """

    first: int
    character: int = 1
    last: int | None = None
    field: str = ""

    @classmethod
    def read(cls, lines: str) -> Self:
        """Raises InvalidInput, which shows the forms there are."""
        if said := _RANGE.fullmatch(lines.strip()):
            first, character = int(said[2]), int(said[3] or 1)
            last = int(said[5]) if said[5] else None if said[4] else first
            if first >= 1 and character >= 1 and (last is None or last >= first):
                return cls(first, character, last, (said[1] or "").lower())
        raise InvalidInput(f"lines: {shown(lines)} is no range of lines.", hint=FORMS)


@dataclass(frozen=True, slots=True)
class TextPart:
    """The characters of a text from `start` up to `end`.

    `is_closed`: it ends with a line whose break does not belong to it, as "10-40" does before the text's end.
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
        """Which lines it is of, as `lines` names them ("10-40"); "" where there are none."""
        if self.start == self.end and not self.is_closed:
            return ""
        last = _line_at(self.text, self.end if self.is_closed else self.end - 1)
        return f"{_place(self.text, self.start)}-{last}"

    def within(self, max_tokens: int) -> Self:
        """Its beginning, at most so many tokens of JSON: whole lines, else the beginning of the first line.

        Never nothing, so that whoever reads on comes to the end: at least one character, however small the
        budget. No character of several code points is cut, nor "\\r\\n".
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
        """What of it stands behind its beginning `part`, as `lines` names it: "41-80", "12@21000-"."""
        place = _place(self.text, part.end)
        if self.is_closed:
            return f"{place}-{_line_at(self.text, self.end)}"
        return f"{place}-" if "@" in place else f"{place}-{count_lines(self.text)}"


def part_of(text: str, asked: LineRange | None = None, tail: int | None = None) -> TextPart:
    """The lines asked for, as far as they are there, or the last ones (`tail`); else the whole text.

    A range that reaches the last line reaches the text's end, its last break included.
    """
    if tail is not None:
        return TextPart(text, _start_of(text, max(count_lines(text) - tail + 1, 1)), len(text))
    if asked is None:
        return TextPart(text, 0, len(text))
    total = count_lines(text)
    if asked.first > total:
        return TextPart(text, len(text), len(text))
    is_closed = asked.last is not None and asked.last < total
    end = _start_of(text, asked.last + 1) - 1 if is_closed and asked.last else len(text)
    behind = _start_of(text, asked.first + 1)
    start = min(_start_of(text, asked.first) + asked.character - 1, behind, end)
    return TextPart(text, start, end, is_closed)


def count_lines(text: str) -> int:
    """A line break at the end ends the last line; an empty text has none."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def json_tokens(value: Any) -> int:
    """What a value costs as it is sent: as compact JSON."""
    return count_tokens(as_json(value))


def as_json(value: Any) -> str:
    return _encode(value)


def whole_characters(text: str, end: int) -> int:
    """The last place up to `end` where no character of several code points is cut; 0 where there is none."""
    place = end
    while place > 0 and _is_inside(text, place):
        place -= 1
    return place


def _cut(text: str, start: int, end: int, limit: int) -> int:
    """Where a part that may reach `end` ends: behind a line, else before a blank nearby or a character.

    It goes on up to `limit` where the first character alone is longer.
    """
    if line_break := text.rfind("\n", start, end) + 1:
        return line_break
    blank = text.rfind(" ", (start + end) // 2, end + 1)
    if blank > start:
        return blank
    least = max(start, end - LONGEST_CHARACTER)
    for place in range(end, least, -1):
        if not _is_inside(text, place):
            return place
    if least > start:
        return end
    following = range(end, min(end + LONGEST_CHARACTER, limit))
    return next((place for place in following if not _is_inside(text, place)), following.stop)


def _is_inside(text: str, place: int) -> bool:
    return is_tail(text, place) or text[place - 1 : place + 1] == "\r\n"


def _place(text: str, at: int) -> str:
    """ "12", or "12@21000" inside of a line."""
    character = at - text.rfind("\n", 0, at)
    return f"{_line_at(text, at)}{f'@{character}' if character > 1 else ''}"


def _line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _start_of(text: str, line: int) -> int:
    """Where a line begins, the first being 1; the text's end for one behind the last."""
    place, left = 0, line - 1
    while place + STEP < len(text) and (found := text.count("\n", place, place + STEP)) < left:
        place, left = place + STEP, left - found
    for _ in range(left):
        place = text.find("\n", place) + 1
        if not place:
            return len(text)
    return place
