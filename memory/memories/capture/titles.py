"""Derives a title from a text."""

import re

from ctxhub.core.text.front_matter import title_in_front_matter, without_front_matter

SHORTEST, LONGEST = 5, 100
CUT_AT, WORDS = 60, 8

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*\S)", re.MULTILINE)
_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*:?")
_MARKS = " \t#*_`>-+•:\uff1a\"'«»“”"
# What marks a line as worth keeping says nothing about it.
_LABEL = re.compile(
    r"^[\s#*_`>•-]*(?:remember|decision|note to self|lesson(?: learned)?|til|merke|à retenir"
    r"|記住|记住|決定|决定)"
    r"[*_`]*\s?[:\uff1a][*_`]*\s*(?=\S)",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=\u3002)")
_FENCE = ("```", "~~~")


def title_of(text: str) -> str:
    """The title in its front matter, else the first heading, bold text or line of SHORTEST to LONGEST
    characters; else the first WORDS words, truncated to CUT_AT characters.
    """
    if title := clean_title(title_in_front_matter(text)):
        return title
    text = _LABEL.sub("", without_front_matter(text)[:10_000])
    for match in (_HEADING.search(text), _BOLD.search(text)):
        if match and (title := clean_title(match[1])):
            return title
    lines = [line for line in text.splitlines() if not line.strip().startswith(_FENCE)]
    first = next((line for line in lines if len(line.strip(_MARKS)) >= SHORTEST), "")
    return clean_title(first) or _beginning(" ".join(lines)) or "Untitled"


def clean_title(text: str) -> str:
    """The first sentence without Markdown marks; "" if it is too short or too long for a title."""
    text = _LABEL.sub("", " ".join(text.split())).strip(_MARKS)
    title = _SENTENCE_END.split(text, maxsplit=1)[0].rstrip(".\u3002")
    return title if SHORTEST <= len(title) <= LONGEST else ""


def _beginning(text: str) -> str:
    words = " ".join(text.split()[:WORDS]).strip(_MARKS)
    if len(words) <= CUT_AT:
        return words
    cut = words[: CUT_AT - 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut}…"
