"""Reads a list that was sent as a text: JSON, Python's repr, lines, commas and semicolons.

Models write lists so where they see no schema, and clients put a list into a text. What is clearly meant as a
list but is none raises UnreadableList: no bracket or quote of it becomes part of a name.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ctxhub.core.text.braces import without_braces

# No argument has more levels or values; 64 KiB of brackets must be refused at once.
MOST_LEVELS = 20
MOST_VALUES = 40_000

# What clients send as text for what they leave out.
NULLS = frozenset(["null", "None", "undefined"])
CLOSING = {"[": "]", "(": ")", "{": "}"}
QUOTES = "\"'`"

_FENCE = re.compile(r"```\w*\s*\n(.*)\n\s*```", re.DOTALL)
_SET = re.compile(r"(?:frozen)?set\((.*)\)", re.DOTALL)
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
# An entry in quotes may hold commas. A quote inside is doubled, or has a backslash.
_QUOTED = re.compile(
    r"""\s*(?:"(?P<double>(?:[^"\\]|\\.|"")*+)"|'(?P<single>(?:[^'\\]|\\.|'')*+)'|`(?P<tick>[^`]*+)`)\s*(?:[,;]|$)""",
    re.DOTALL,
)
_MARK = re.compile(r"[,;{}]")


class UnreadableList(ValueError):
    """A text that is meant as a list, but is not written as one."""


def parse_list(text: str, *, brackets_are_letters: bool = False) -> list[Any] | None:
    """The list that a text is in JSON or as Python writes it, also inside a JSON string; None if it is none.

    Tuples and sets are lists. Raises UnreadableList for an object, and for a text that begins as a list and
    is none: `[a, b]`, `['a`. `brackets_are_letters`: not for brackets alone, as `[id]` may be a path.
    """
    bare = _bare(text)
    if bare[:1] not in CLOSING:
        return None
    value = _parsed(bare)
    if isinstance(value, list):
        return value
    is_quoted = bare[1:].lstrip()[:1] in ('"', "'")
    is_object = isinstance(value, dict) and (value or not brackets_are_letters)
    is_bracket = bare[0] == "[" and not (brackets_are_letters or _has_pairs_inside(bare))
    if is_object or is_quoted or is_bracket:
        raise UnreadableList
    return None


def parse_value(text: str) -> list[Any] | dict[str, Any] | None:
    """The list or the object that a text is in JSON or as Python writes it; None if it is neither."""
    bare = _bare(text)
    return _parsed(bare) if bare[:1] in CLOSING else None


def read_names(text: str, *, are_globs: bool = False) -> list[Any]:
    """The names in a text: a list, or what lines, commas and semicolons separate, without bullets and quotes.

    A name in quotes may hold commas. Entries of a list are as they stand: texts, numbers, anything. A text
    with nothing in it is one empty name. `are_globs`: braces may stand around several. Raises UnreadableList,
    also for a null as text.
    """
    if text.strip() in NULLS:
        raise UnreadableList
    listed = parse_list(text)
    return split_names(text, are_globs=are_globs) if listed is None else names_of(listed)


def read_entries(value: Any) -> Any:
    """A list of prose or of objects: JSON, or as Python writes it, also as the one entry of a list.

    Any other text, and an object, is one entry; another value stays as it is.
    """
    listed = [value] if isinstance(value, str | dict) else value
    if not isinstance(listed, list) or len(listed) != 1 or not isinstance(listed[0], str):
        return listed
    parsed = parse_value(listed[0])
    return listed if parsed is None else [parsed] if isinstance(parsed, dict) else parsed


def names_of(values: Iterable[Any]) -> list[Any]:
    """The entries of a list without quotes around them; one that is a list, as a text too, is its entries."""
    names: list[Any] = []
    for value in values:
        inner = parse_list(value) if isinstance(value, str) else value
        names += inner if isinstance(inner, list) else [_unquoted(value) if isinstance(value, str) else value]
    return names


def split_names(
    text: str, *, separators: str = ",;", brackets_are_letters: bool = False, are_globs: bool = False
) -> list[str]:
    """What lines and separators separate, without bullets and quotes; [""] if it is nothing.

    A separator in quotes or braces separates nothing. Raises UnreadableList for brackets and quotes that are
    left over.
    """
    names = [name for line in lines_of(text) for name in _entries(line, separators) if name]
    for name in names:
        letters = without_braces(name) if are_globs else name
        refuse_left_over(letters, brackets_are_letters=brackets_are_letters)
    return names or [""]


def lines_of(text: str) -> list[str]:
    """The lines that are not blank, without bullets and numbers."""
    return [_BULLET.sub("", line, count=1) for line in text.splitlines() if line.strip()]


def refuse_left_over(name: str, *, brackets_are_letters: bool = False) -> None:
    """Raise UnreadableList for a name with a bracket or a quote of a list that was cut in pieces."""
    if not name:
        return
    is_quoted = name[0] in QUOTES or name[-1] in QUOTES or (name[0] in CLOSING and name[1:2] in {"'", '"'})
    if is_quoted or not (brackets_are_letters or _has_pairs_inside(name)):
        raise UnreadableList


def name_of_entry(entry: Any, *, is_glob: bool = False) -> str:
    """An entry of a list as a name. Raises UnreadableList for an object, a constant, or what is left over."""
    if isinstance(entry, bool) or not isinstance(entry, str | int):
        raise UnreadableList
    refuse_left_over(without_braces(str(entry)) if is_glob else str(entry))
    return str(entry)


def _has_pairs_inside(name: str) -> bool:
    """Whether each bracket has its other, and no pair encloses the name: `app/[id]`, not `[id`, `[id]`."""
    open_ones: list[tuple[int, str]] = []
    encloses = False
    for position, letter in enumerate(name):
        if letter in "[{":
            open_ones.append((position, CLOSING[letter]))
        elif letter in "]}":
            start, closing = open_ones.pop() if open_ones else (0, "")
            if letter != closing:
                return False
            encloses = (start, position) == (0, len(name) - 1)
    return not open_ones and not encloses


def _entries(line: str, separators: str) -> Iterator[str]:
    keeps_braces = line.count("{") == line.count("}")
    position = 0
    while position < len(line):
        quoted = _QUOTED.match(line, position)
        if quoted and quoted[0].rstrip()[-1] in separators + QUOTES:
            position = quoted.end()
            yield _without_escapes(quoted)
        else:
            end = _end_of_entry(line, position, separators, keeps_braces=keeps_braces)
            yield line[position:end].strip()
            position = end + 1


def _end_of_entry(line: str, position: int, separators: str, *, keeps_braces: bool) -> int:
    depth = 0
    for found in _MARK.finditer(line, position):
        if found[0] in separators and (depth <= 0 or not keeps_braces):
            return found.start()
        depth += {"{": 1, "}": -1}.get(found[0], 0)
    return len(line)


def _unquoted(name: str) -> str:
    found = _QUOTED.fullmatch(name)
    return _without_escapes(found) if found and name.strip()[-1] in QUOTES else name


def _without_escapes(quoted: re.Match[str]) -> str:
    name = quoted[quoted.lastgroup or 0]
    quote = {"double": '"', "single": "'"}.get(quoted.lastgroup or "", "")
    return (name.replace(quote * 2, quote).replace(f"\\{quote}", quote) if quote else name).strip()


# -- JSON and Python -------------------------------------------------------------------------------


def _bare(text: str) -> str:
    """The text without a fence, quotes around a list (JSON in JSON), and the name of Python's sets."""
    bare = text.strip()
    if fenced := _FENCE.fullmatch(bare):
        bare = fenced[1].strip()
    for _ in range(3):
        inner = _parsed(bare) if bare[:1] in ('"', "'") else None
        if not isinstance(inner, str):
            break
        bare = inner.strip()
    named = _SET.fullmatch(bare)
    return (named[1].strip() or "[]") if named else bare


def _parsed(text: str) -> Any:
    """The list, object or text in JSON or as Python writes it; None if it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _python(text)
    return value if isinstance(value, (list, dict, str)) else None


def _python(text: str) -> Any:
    """What a text is as Python writes it: lists, tuples, sets, dicts, texts, numbers; None if it is none.

    Not by `ast`, which takes any expression, and may end the process for one that is deep enough.
    """
    reader = _Reader(text)
    try:
        value = reader.read()
    except UnreadableList:
        return None
    return value if reader.is_at_end else None


_TOKEN = re.compile(
    r"""\s*(?:(?P<mark>[][(){},:])|"(?P<double>(?:[^"\\]|\\.)*+)"|'(?P<single>(?:[^'\\]|\\.)*+)'|(?P<word>[-+.\w]++))""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"""\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\\'"/nrt]))""")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_CONSTANTS = {"None": None, "null": None, "True": True, "true": True, "False": False, "false": False}


class _Reader:
    """Reads one value from the tokens of a text, from left to right. Raises UnreadableList."""

    def __init__(self, text: str) -> None:
        self._text = text.rstrip()
        self._position = 0
        self._count = 0

    @property
    def is_at_end(self) -> bool:
        return self._position == len(self._text)

    def read(self, level: int = 0) -> Any:
        token = self._next()
        if token.lastgroup == "mark":
            if level == MOST_LEVELS or token["mark"] not in CLOSING:
                raise UnreadableList
            return self._read_inside(token["mark"], level + 1)
        if token.lastgroup == "word":
            return _constant(token["word"])
        return _ESCAPE.sub(_unescaped, token[token.lastgroup or 0])

    def _read_inside(self, opening: str, level: int) -> list[Any] | dict[str, Any]:
        """The values up to the closing bracket. Braces hold a set, or an object where colons stand."""
        values: list[Any] = []
        pairs: dict[str, Any] = {}
        has_comma = True
        while not self._take(CLOSING[opening]):
            if not has_comma:
                raise UnreadableList
            value = self.read(level)
            if opening == "{" and self._take(":"):
                pairs[str(value)] = self.read(level)
            else:
                values.append(value)
            has_comma = self._take(",")
        is_in_parentheses = opening == "(" and len(values) == 1 and not has_comma  # No tuple.
        if (pairs and values) or is_in_parentheses:
            raise UnreadableList
        return pairs if pairs or (opening == "{" and not values) else values

    def _next(self) -> re.Match[str]:
        found = _TOKEN.match(self._text, self._position)
        self._count += 1
        if found is None or self._count > MOST_VALUES:
            raise UnreadableList
        self._position = found.end()
        return found

    def _take(self, mark: str) -> bool:
        """Read this mark if it comes next."""
        found = _TOKEN.match(self._text, self._position)
        if found is None or found["mark"] != mark:
            return False
        self._position = found.end()
        return True


def _constant(word: str) -> Any:
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    try:
        return int(word) if word.lstrip("-").isdecimal() else float(word)
    except ValueError:
        raise UnreadableList from None


def _unescaped(found: re.Match[str]) -> str:
    if (letter := found[4]) is not None:
        return _ESCAPED.get(letter, letter)
    code = int(found[1] or found[2] or found[3], 16)
    return chr(code) if code <= 0x10FFFF else found[0]
