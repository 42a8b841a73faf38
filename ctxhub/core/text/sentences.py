"""Finds the sentences of a Markdown text, each on one line, without heading marks, code and front matter."""

import re
from collections.abc import Iterator

from ctxhub.core.text.front_matter import without_front_matter
from ctxhub.core.text.graphemes import is_tail
from ctxhub.core.text.lazy_patterns import lazy_pattern

# Characters of a text that sentences are looked for in, and those among which fenced code is left out first.
LOOKED_AT = 20_000
READ = 10 * LOOKED_AT

_CODE = lazy_pattern(r"```.*?(?:```|\Z)|^[ \t]*~~~.*?(?:^[ \t]*~~~+[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = lazy_pattern(r"#{1,6}[ \t]+(.*)")
# "e.g." does not end a sentence, nor does a mark before a lower-case letter.
_SENTENCE = lazy_pattern(
    r".*?(?:(?<!\b\w\.\w)[.!?]+[\"'\u2019\u201d)\]]*(?=\s+(?![a-z])|$)|[\u3002\uff01\uff1f]+[\u300d\u300f\uff09]*)"
)


def paragraphs(text: str) -> Iterator[str]:
    """The first paragraphs and headings, each on one line, without fenced code and front matter."""
    readable = without_front_matter(text[:READ])
    for block in re.split(r"\n\s*\n", _CODE.sub("\n\n", readable)[:LOOKED_AT]):
        first_line, _, rest = block.strip().partition("\n")
        heading = _HEADING.fullmatch(first_line)
        parts = (heading[1], rest) if heading else (block,)
        yield from filter(None, map(in_one_line, parts))


def sentence_at(line: str, start: int, at_most: int) -> str:
    """The sentence that begins at an offset of a line; the rest of the line if it does not end soon."""
    found = _SENTENCE.match(line, start, start + at_most)
    return found[0] if found else line[start:]


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def shortened(line: str, characters: int) -> str:
    """At most so many characters of a line and an ellipsis; no grapheme is cut."""
    end = characters
    while end > 1 and is_tail(line, end):
        end -= 1
    return f"{line[:end].rstrip()}…"
