"""Finds words in a rendered text, and marks them."""

import re
from collections.abc import Iterator
from itertools import count

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from ctxhub.core.kit.frozen import frozen

MARKED = 500
LINKED = 30
CHARACTERS = 200
HIT = "hit-"

# A tag of sanitised HTML; its attributes may hold a ">".
_TAG = re.compile(r'(<(?:[^>"]|"[^"]*")*>)')
_COLOUR = re.compile(r"</?span\b[^>]*>")


@frozen
class FoundWords:
    """`html`: with the first MARKED hits marked; `count`: of all in it; `hidden`: in what is not rendered."""

    words: str
    html: SafeString
    count: int
    hidden: int

    @property
    def anchors(self) -> list[tuple[int, str]]:
        """The number and anchor of the hits that are linked."""
        return [(number, f"{HIT}{number}") for number in range(1, min(self.count, LINKED) + 1)]

    @property
    def is_more(self) -> bool:
        return self.count > LINKED


def find_in(html: SafeString, words: str, not_rendered: str = "") -> FoundWords | None:
    """Find words in sanitised HTML, in any case, each hit within one element. None without words.

    Code loses its colours, which would divide it. The texts stay escaped as they are.
    """
    words = " ".join(words.split())[:CHARACTERS]
    if not words:
        return None
    # An entity is one character: "amp" is not found in it.
    wanted = re.compile(rf"({_in_text(words)})|&\w+;", re.IGNORECASE)
    pieces = _TAG.split(_COLOUR.sub("", html))
    numbers = count(1)
    marked = "".join(piece if n % 2 else _marked(piece, wanted, numbers) for n, piece in enumerate(pieces))
    hidden = len(re.findall(_in_raw(words), not_rendered, re.IGNORECASE))
    return FoundWords(words, mark_safe(marked), next(numbers) - 1, hidden)  # noqa: S308


def _marked(text: str, wanted: "re.Pattern[str]", numbers: Iterator[int]) -> str:
    def mark(match: "re.Match[str]") -> str:
        if match[1] is None or (number := next(numbers)) > MARKED:
            return match[0]
        return f'<mark id="{HIT}{number}">{match[0]}</mark>'

    return wanted.sub(mark, text)


def _in_text(words: str) -> str:
    """The pattern of words in HTML, which escapes no quotes in texts, and breaks lines anywhere."""
    escaped = (escape(word).replace("&quot;", '"').replace("&#x27;", "'") for word in words.split())
    return r"\s+".join(map(re.escape, escaped))


def _in_raw(words: str) -> str:
    return r"\s+".join(map(re.escape, words.split()))
