"""Reads JSON with comments and trailing commas, and where in the text each part of it stands."""

from __future__ import annotations

import json
import re

from ctxhub_client.install.files import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A comment in a line ends before the end of the line.
SKIPPED = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
CLOSING = {"{": "}", "[": "]"}
MOST_LEVELS = 200


class Node:
    """A value in the text: from `start` to before `end`. Objects and arrays have items."""

    def __init__(self, start: int, kind: str) -> None:
        self.start = start
        self.end = start
        self.kind = kind
        self.items: list[Item] = []
        self.scalar: Any = None

    @property
    def value(self) -> Any:
        if self.kind == "{":
            return {item.key: item.node.value for item in self.items}
        if self.kind == "[":
            return [item.node.value for item in self.items]
        return self.scalar


class Item:
    """A member of an object, or an element of an array, whose `key` is "".

    `start` is where its key begins, `comma` where the comma behind it stands; -1 if there is none.
    """

    def __init__(self, key: str, start: int, node: Node) -> None:
        self.key = key
        self.start = start
        self.node = node
        self.comma = -1

    @property
    def end(self) -> int:
        return self.node.end


def parse(text: str) -> Node:
    """The value that a text holds. Raises Refused if it is not JSON, comments and trailing commas aside."""
    return Reader(text).document()


class Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def document(self) -> Node:
        self._skip()
        found = self._value(0)
        self._skip()
        if self.at != len(self.text):
            self._refuse()
        return found

    def _skip(self) -> None:
        found = SKIPPED.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _value(self, level: int) -> Node:
        sign = self.text[self.at : self.at + 1]
        node = Node(self.at, sign if sign in CLOSING else "")
        if level > MOST_LEVELS:
            self._refuse()
        if node.kind:
            self._items(node, level)
        else:
            found = (STRING if sign == '"' else SCALAR).match(self.text, self.at)
            if not found:
                self._refuse()
            else:
                node.scalar = decoded(found[0])
                self.at = found.end()
        node.end = self.at
        return node

    def _items(self, node: Node, level: int) -> None:
        self.at += 1
        self._skip()
        while not self.text.startswith(CLOSING[node.kind], self.at):
            if node.items and node.items[-1].comma < 0:
                self._refuse()
            start = self.at
            key = self._key() if node.kind == "{" else ""
            item = Item(key, start, self._value(level + 1))
            node.items.append(item)
            self._skip()
            if self.text.startswith(",", self.at):
                item.comma = self.at
                self.at += 1
                self._skip()
        self.at += 1

    def _key(self) -> str:
        found = STRING.match(self.text, self.at)
        if not found:
            self._refuse()
            return ""
        self.at = found.end()
        self._skip()
        if not self.text.startswith(":", self.at):
            self._refuse()
        self.at += 1
        self._skip()
        return str(decoded(found[0]))

    def _refuse(self) -> None:
        raise Refused("it is not JSON at line {}".format(self.text.count("\n", 0, self.at) + 1))


def decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # A number with more digits than Python reads.
        return text


def find(root: Node, path: tuple[str | int, ...]) -> Node | None:
    """The value at a path of keys and indexes; None if there is none.

    Raises Refused where a key on the way stands twice, or where another value than an object is.
    """
    node: Node | None = root
    for step in path:
        assert node is not None
        item = item_at(node, step)
        node = item.node if item else None
        if node is None:
            return None
    return node


def item_at(node: Node, step: str | int) -> Item | None:
    if isinstance(step, int):
        return node.items[step] if node.kind == "[" and step < len(node.items) else None
    if node.kind != "{":
        raise Refused("what holds {} in it is not an object".format(json.dumps(step)))
    found = [item for item in node.items if item.key == step]
    if len(found) > 1:
        raise Refused("it has {} twice".format(json.dumps(step)))
    return found[0] if found else None
