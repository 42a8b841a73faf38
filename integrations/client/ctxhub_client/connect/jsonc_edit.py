"""Changes single parts of JSON in its text: all else keeps its bytes."""

from __future__ import annotations

import json
import re

from ctxhub_client.connect.jsonc import SKIPPED, Item, Node, find, item_at, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Path = tuple[str | int, ...]

INDENT = "  "
COMMENT_IN_LINE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/(?=[ \t]*\r?\n))")
COMMENTS = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)


def put(text: str, path: Path, value: Any) -> str:
    """The text with a value at a path, in the place of what is there, else behind what its object has.

    Objects on the way are made. Raises Refused as `parse` and `find` do.
    """
    if not text.strip():
        return pretty(nested(path, value), "", INDENT, newline_of(text)) + newline_of(text)
    root = parse(text)
    depth = depth_of(root, path)
    if depth == len(path):
        node = find(root, path)
        assert node is not None
        return text[: node.start] + Style(text, node).dump_instead(value) + text[node.end :]
    container = find(root, path[:depth])
    assert container is not None
    return with_item(text, container, str(path[depth]), nested(path[depth + 1 :], value))


def append(text: str, path: Path, value: Any) -> str:
    """The text with one more element in the array at a path, which is made if it is absent."""
    node = find(parse(text), path) if text.strip() else None
    return put(text, path, [value]) if node is None else with_item(text, node, None, value)


def remove(text: str, path: Path) -> str:
    """The text without the member or element at a path, which is there."""
    container = find(parse(text), path[:-1])
    assert container is not None
    item = item_at(container, path[-1])
    assert item is not None
    pieces = [(gap_before(text, container, item), item.end)]
    index = container.items.index(item)
    if item.comma >= 0:
        pieces.append((item.comma, item.comma + 1))
    elif index:
        before = container.items[index - 1].comma
        pieces.append((before, before + 1))
    if len(container.items) == 1:
        inner = without(text, pieces)[container.start + 1 : container.end - 1 - cut(pieces)]
        if not inner.strip():
            pieces = [(container.start + 1, container.end - 1)]
    return without(text, pieces)


def put_raw(text: str, path: Path, raw: str) -> str:
    """The text with these characters as the value at a path, which is there."""
    node = find(parse(text), path)
    assert node is not None
    return text[: node.start] + raw + text[node.end :]


def depth_of(root: Node, path: Path) -> int:
    """How many steps of a path are there."""
    for depth in range(1, len(path) + 1):
        if find(root, path[:depth]) is None:
            return depth - 1
    return len(path)


def nested(path: Path, value: Any) -> Any:
    for step in reversed(path):
        value = {step: value}
    return value


def with_item(text: str, container: Node, key: str | None, value: Any) -> str:
    style = Style(text, container)
    named = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    chunk = named + style.dump_inside(value)
    if not container.items:
        return style.in_empty(chunk)
    last = container.items[-1]
    at = last.comma + 1 if last.comma >= 0 else last.end
    comment = COMMENT_IN_LINE.match(text, at) if style.is_long else None
    place = comment.end() if comment else at
    comma = "" if last.comma >= 0 else ","
    end = "," if last.comma >= 0 else ""
    return text[:at] + comma + text[at:place] + style.gap + chunk + end + text[place:]


class Style:
    """How the text writes an object or array: in one line or several, with what indentation."""

    def __init__(self, text: str, node: Node) -> None:
        self.text = text
        self.node = node
        self.newline = newline_of(text)
        self.base = indentation(text, node.start)
        first = node.items[0].start if node.items else -1
        self.is_long = not node.items or "\n" in text[node.start : first]
        unit = indentation(text, first)[len(self.base) :] if node.items and self.is_long else ""
        self.unit = unit or unit_of(text)
        inside = indentation(text, node.items[-1].start) if node.items else self.base + self.unit
        self.inside = inside
        self.gap = self.newline + inside if self.is_long else " "

    def dump_inside(self, value: Any) -> str:
        if not self.is_long:
            return json.dumps(value, ensure_ascii=False)
        return pretty(value, self.inside, self.unit, self.newline)

    def dump_instead(self, value: Any) -> str:
        if "\n" not in self.text.strip():
            return json.dumps(value, ensure_ascii=False)
        return pretty(value, self.base, self.unit, self.newline)

    def in_empty(self, chunk: str) -> str:
        start = self.node.start + 1
        rest = self.text[start : self.node.end - 1]
        has_line = re.match(r"[ \t]*\r?\n", rest) is not None
        end = rest if has_line else self.newline + self.base + rest.strip(" \t")
        return self.text[:start] + self.newline + self.inside + chunk + end + self.text[self.node.end - 1 :]


def pretty(value: Any, base: str, unit: str, newline: str) -> str:
    text = json.dumps(value, indent=unit, ensure_ascii=False)
    return text.replace("\n", newline + base)


def newline_of(text: str) -> str:
    found = re.search(r"\r?\n", text)
    return found[0] if found else "\n"


def indentation(text: str, at: int) -> str:
    """The white space that the line of a place begins with."""
    found = re.match(r"[ \t]*", text[text.rfind("\n", 0, at) + 1 : at])
    return found[0] if found else ""


def unit_of(text: str) -> str:
    found = re.search(r"^([ \t]+)[\"}\]]", text, re.MULTILINE)
    return found[1] if found else INDENT


def gap_before(text: str, container: Node, item: Item) -> int:
    """Where the white space begins that belongs to an item: behind the comma before it, and comments."""
    index = container.items.index(item)
    start = container.items[index - 1].comma + 1 if index else container.start + 1
    skipped = SKIPPED.match(text, start)
    assert skipped
    comments = list(COMMENTS.finditer(text, start, item.start))
    return comments[-1].end() if comments else start


def without(text: str, pieces: list[tuple[int, int]]) -> str:
    for start, end in sorted(pieces, reverse=True):
        text = text[:start] + text[end:]
    return text


def cut(pieces: list[tuple[int, int]]) -> int:
    return sum(end - start for start, end in pieces)
