"""The refs in texts that an export rewrites: `[text](memory:5)` outside code, and whole texts `memory:5`.

In an export the id is a UUID. A link whose object is not known stays as it is written.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

ID = "(?:0|[1-9][0-9]{0,17})"  # As the hub writes it: 05 stays as somebody typed it.
UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
UUID_LENGTH = 36  # No id is so long.
Replace = Callable[[str, str], str | None]
"""Gets kind and name of a ref; returns the new name, or None to leave it."""
Shift = tuple[int, int]
"""Where a replaced name ended, in the old text and in the new one."""

_FENCE = r"^ {0,3}(?P<fence>`{3,}|~{3,})"
_TOKEN = re.compile(rf"{_FENCE}|(?P<ticks>`+)|\]\((?P<kind>[a-z_]{{1,30}}):(?P<name>{ID}|{UUID})\)", re.M)
_REF = re.compile(rf"(?P<kind>[a-z_]{{1,30}}):(?P<name>{ID}|{UUID})")
_BARE = re.compile(rf"(?<![\w/:.-])(?P<kind>[a-z_]{{1,30}}):(?P<name>{ID})(?![\w:-])")


def replace_links(text: str, replace: Replace) -> tuple[str, list[Shift]]:
    """The text with its links replaced, and where names of another length end."""
    if "](" not in text:
        return text, []
    written, shifts, end, length = [], [], 0, 0
    for start, stop, kind, name in _links(text):
        if (new := replace(kind, name)) is None or new == name:
            continue
        written += [text[end:start], new]
        length += start - end + len(new)
        end = stop
        shifts.append((stop, length))
    return "".join([*written, text[end:]]), shifts


def links_in(value: Any) -> Iterator[tuple[str, str]]:
    """Kind and name of the links in the texts of a value."""
    for text in texts_in(value):
        if "](" in text:
            for _, _, kind, name in _links(text):
                yield kind, name


def replace_in(value: Any, replace_text: Callable[[str], str]) -> Any:
    """The value with each of its texts replaced; the names of objects stay."""
    if isinstance(value, str):
        return replace_text(value)
    if isinstance(value, list):
        return [replace_in(each, replace_text) for each in value]
    if isinstance(value, dict):
        return {name: replace_in(each, replace_text) for name, each in value.items()}
    return value


def texts_in(value: Any) -> Iterator[str]:
    """The texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)


def read_ref(text: str) -> tuple[str, str] | None:
    """Kind and name of a text that is a ref and nothing else."""
    found = _REF.fullmatch(text)
    return (found["kind"], found["name"]) if found else None


def bare_refs(text: str) -> Iterator[str]:
    """The kinds of the refs with ids that stand in a text, whether in links or not."""
    if ":" in text:
        for found in _BARE.finditer(text):
            yield found["kind"]


def shifted(offset: int, shifts: list[Shift]) -> int:
    """An offset of the old text in the new one; in a replaced name, its end at most."""
    place = bisect_left(shifts, (offset, 0))
    # Before the first name that ends at the offset or after it nothing else has moved.
    old, new = shifts[place - 1] if place else (0, 0)
    if place < len(shifts) and shifts[place][0] == offset:
        return shifts[place][1]
    return new + offset - old


def _links(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Start and end of the name, kind and name of each link outside code, in one pass over the text."""
    ends = _ends_of_ticks(text)
    fence, after = "", 0
    for token in _TOKEN.finditer(text):
        if token.start() < after:
            continue
        if mark := token["fence"]:
            if not fence:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence) and _is_last_in_line(text, token.end()):
                fence = ""
        elif fence:
            continue
        elif ticks := token["ticks"]:
            later = ends.get(len(ticks), [])
            place = bisect_left(later, token.end() + len(ticks))
            after = later[place] if place < len(later) else after
        else:
            yield token.start("name"), token.end("name"), token["kind"], token["name"]


def _ends_of_ticks(text: str) -> dict[int, list[int]]:
    """Where runs of backticks end, by their length."""
    ends: dict[int, list[int]] = defaultdict(list)
    if "`" in text:
        for found in re.finditer("`+", text):
            ends[len(found[0])].append(found.end())
    return ends


def _is_last_in_line(text: str, end: int) -> bool:
    stop = text.find("\n", end)
    return not text[end : stop if stop >= 0 else len(text)].strip()
