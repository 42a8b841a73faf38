"""Derives a title from a text."""

import re

from ctxhub.core.text.front_matter import title_in_front_matter, without_front_matter
from ctxhub.core.text.headings import headings

SHORTEST, LONGEST = 5, 100
CUT_AT, WORDS = 60, 8

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
_FENCED = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"#(?!include\b|!)|//|/\*|--|;|<!--|\"\"\"|'''")
_MARKS_IN_CODE = f"{_MARKS}/;<!"
# Lines of code that say nothing about it: what it imports, comments, decorators, the shell that runs it.
_PREFACE = re.compile(
    rf"(?:import|from|use|using|package|require|include|#include|#!|set -|@\w|[\"']use )|{_COMMENT.pattern}"
)


def title_of(text: str, *, is_code: bool = False) -> str:
    """The title in its front matter, else the first heading, bold text or line of SHORTEST to LONGEST
    characters; else the first WORDS words, truncated to CUT_AT characters.

    What stands in code is looked at last, for `is_code` also what stands behind its first line: `#` begins
    comments there.
    """
    if title := clean_title(title_in_front_matter(text)):
        return title
    text = _LABEL.sub("", without_front_matter(text)[:10_000]).strip("\n")
    prose = _FENCED.sub("\n", text)
    is_code = is_code and prose.strip() == text.strip()
    found = [heading.text for heading in headings(text) if not is_code or heading.line == 1]
    found += [match[1] for match in _BOLD.finditer(prose) if not is_code][:1]
    if title := next(filter(None, map(clean_title, found)), ""):
        return title
    return (
        (_title_of_lines(prose) if not is_code else "")
        or _title_of_code(text)
        or _beginning(text)
        or "Untitled"
    )


def _title_of_lines(text: str) -> str:
    first = next((line for line in text.splitlines() if len(line.strip(_MARKS)) >= SHORTEST), "")
    return clean_title(first) or _beginning(text)


def _title_of_code(text: str) -> str:
    """The comment that code begins with, else its first line that defines or does something."""
    lines = [line.strip() for line in text.splitlines() if not line.strip().startswith(_FENCE)]
    written = [line for line in lines if len(line.strip(_MARKS_IN_CODE)) >= SHORTEST]
    if written and _COMMENT.match(written[0]):
        return clean_title(written[0].strip(_MARKS_IN_CODE))
    titles = (clean_title(line).rstrip(" {(;:=>") for line in written if not _PREFACE.match(line))
    return next(filter(None, titles), "")


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
