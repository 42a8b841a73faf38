"""Outlines of texts: the headings of Markdown, the keys of JSON and YAML, and the ends of any other text."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

HEAD_CHARACTERS = 1_200
TAIL_CHARACTERS = 400
SENTENCE_CHARACTERS = 200
KEY_CHARACTERS = 100
MOST_KEYS = 50

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_SENTENCE = re.compile(r".*?(?:[.!?](?=\s|$)|[。！？])")  # noqa: RUF001  # Chinese ends of sentences.
_YAML_KEY = re.compile(r"""( *)((?:- +)*)("[^"\n]*"|'[^'\n]*'|[^\s#&*!|>'"%@`{\[-][^\n]*?):(?= |$)(.*)""")
_BLOCK_SCALAR = re.compile(r".*[|>][-+0-9]*\s*$")


def head_and_tail(text: str) -> str:
    """The first and the last lines, and how many characters are left out between them."""
    if len(text) <= HEAD_CHARACTERS + TAIL_CHARACTERS:
        return text
    head, tail = text[:HEAD_CHARACTERS], text[-TAIL_CHARACTERS:]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    return f"{head.rstrip()}\n… {len(text) - len(head) - len(tail):,} characters …\n{tail}"


# -- Markdown --------------------------------------------------------------------------------------


def headings(text: str) -> str:
    """The headings outside code, each with the first sentence below it; "" if there are none."""
    found: list[str] = []
    sections = _sections(text)
    for heading, paragraph in sections:
        found += [heading, _first_sentence(paragraph)] if paragraph else [heading]
    return "\n".join(found)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Each heading with up to 200 characters of the paragraph below it."""
    heading, paragraph, is_done = "", "", False
    for line in _outside_fences(text):
        if match := _HEADING.match(line[:1_000]):
            if heading:
                yield heading, paragraph
            heading, paragraph, is_done = f"{match[1]} {_cut(match[2].strip())}", "", False
        elif paragraph and not line.strip():
            is_done = True
        elif heading and not is_done and len(paragraph) < SENTENCE_CHARACTERS:
            paragraph = f"{paragraph} {line[: SENTENCE_CHARACTERS + 1].strip()}".strip()
    if heading:
        yield heading, paragraph


def _outside_fences(text: str) -> Iterator[str]:
    """The lines; those of code between fences as one empty line."""
    fence = ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if fence:
            fence = "" if match and match[1].startswith(fence) else fence
        elif match:
            fence = match[1]
            yield ""
        else:
            yield line


def _first_sentence(paragraph: str) -> str:
    match = _SENTENCE.match(paragraph[:SENTENCE_CHARACTERS])
    return match[0] if match else _cut(paragraph)


def _cut(text: str) -> str:
    return text if len(text) <= SENTENCE_CHARACTERS else f"{text[:SENTENCE_CHARACTERS]}…"


# -- JSON ------------------------------------------------------------------------------------------


def json_keys(text: str) -> str:
    """The keys of the first two levels, a line for each of the first; "" if there are none.

    Of a list: the number of its items, and the keys of its first one.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError, MemoryError):
        return ""
    if isinstance(value, list) and value:
        return f"[{len(value)}] {_inner_keys(value[0])}".strip()
    if not isinstance(value, dict) or not value:
        return ""
    return "\n".join(_limited(list(_key_lines(value)), len(value)))


def _key_lines(value: dict[str, Any]) -> Iterator[str]:
    for key, inner in islice(value.items(), MOST_KEYS):
        keys = _inner_keys(inner)
        yield f"{key[:KEY_CHARACTERS]}: {keys}" if keys else key[:KEY_CHARACTERS]


def _inner_keys(value: Any) -> str:
    if isinstance(value, list) and value:
        return f"[{len(value)}]"
    if not isinstance(value, dict):
        return ""
    return ", ".join(_limited([key[:KEY_CHARACTERS] for key in islice(value, MOST_KEYS)], len(value)))


def _limited(shown: Sequence[str], count: int) -> list[str]:
    return [*shown, *([f"… {count - len(shown):,} more"] if count > len(shown) else [])]


# -- YAML ------------------------------------------------------------------------------------------


def yaml_keys(text: str) -> str:
    """The keys of the first two levels, found by their indentation; "" if there are none."""
    outline: dict[str, dict[str, None]] = {}
    top = ""
    for depth, key in _yaml_keys(text):
        if depth == 1:
            top = key
            outline.setdefault(key, {})
        elif depth == 2 and top:
            outline[top].setdefault(key)
    return "\n".join(_limited(list(_key_lines(dict(outline))), len(outline)))


def _yaml_keys(text: str) -> Iterator[tuple[int, str]]:
    """The depth and name of each key outside of block scalars."""
    columns: list[int] = []
    scalar: int | None = None
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        if scalar is not None and (indent > scalar or not line.strip()):
            continue
        scalar = None
        if match := _YAML_KEY.match(line[:1_000]):
            column = len(match[1]) + len(match[2])
            while columns and columns[-1] >= column:
                columns.pop()
            columns.append(column)
            yield len(columns), match[3].strip("\"'")[:KEY_CHARACTERS]
            scalar = column if _BLOCK_SCALAR.match(match[4]) else None
