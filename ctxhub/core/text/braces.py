"""Braces in globs: `src/{a,b}.py` stands for src/a.py and src/b.py. `{x}`, without a comma, is a name."""

import re
from collections.abc import Iterator
from itertools import product

from ctxhub.core.kit.errors import InvalidInput, shown

MOST_EXPANDED = 64
"""What one glob may stand for in checks and filters."""

_SPECIAL = re.compile(r"[{},]")


def has_braces(glob: str) -> bool:
    """Whether the glob may expand: soon told of most."""
    return "{" in glob and "," in glob


def expand_braces(glob: str, name: str = "path", *, at_most: int = MOST_EXPANDED) -> list[str]:
    """Return the globs that a glob stands for, in order and without duplicates; itself if it has no braces.

    Braces may be nested, and alternatives empty: `{a,b{c,}}` is a, bc and b. Spaces around an alternative are
    cut. Braces without a comma or without a partner are letters. Raises InvalidInput for more than `at_most`,
    before they are made.
    """
    if not has_braces(glob) or not (groups := _groups(glob)):
        return [glob]
    # For each open group the alternatives that are complete, and the one that is being read.
    outer: list[tuple[list[str], list[str]]] = []
    done, current = list[str](), [""]
    start = 0
    for position, sign in sorted(groups.items()):
        text = glob[start:position]
        current = [f"{each}{text}" for each in current] if text else current
        start = position + 1
        match sign:
            case "{":
                outer.append((done, current))
                done, current = [], [""]
            case ",":
                done, current = done + [each.strip() for each in current], [""]
            case _:
                done += [each.strip() for each in current]
                alternatives = _distinct(done, glob, name, at_most)
                done, before = outer.pop()
                current = _distinct(map("".join, product(before, alternatives)), glob, name, at_most)
    return _distinct((f"{each}{glob[start:]}" for each in current), glob, name, at_most)


def without_braces(glob: str) -> str:
    """The letters of a glob without the braces and commas that expand."""
    groups = _groups(glob) if has_braces(glob) else {}
    return "".join(letter for position, letter in enumerate(glob) if position not in groups)


def split_outside_braces(text: str, separators: str) -> list[str]:
    """Split a text at any of these characters, but not within braces that expand: `src/*.{ts,tsx}, docs`."""
    inside, depth = set[int](), 0
    groups = _groups(text) if has_braces(text) else {}
    first = 0
    for position, sign in sorted(groups.items()):
        if sign == "{":
            first = position if depth == 0 else first
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                inside.update(range(first, position))
    parts, start = [], 0
    for position, character in enumerate(text):
        if character in separators and position not in inside:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]


def _groups(glob: str) -> dict[int, str]:
    """The braces and commas of the groups that expand, by position."""
    found: dict[int, str] = {}
    open_groups: list[list[int]] = []
    for position, sign in _signs(glob):
        if sign == "{":
            open_groups.append([position])
        elif open_groups and sign == ",":
            open_groups[-1].append(position)
        elif open_groups:
            first, *commas = open_groups.pop()
            if commas:
                found |= {first: "{", position: "}"} | dict.fromkeys(commas, ",")
    return found


def _signs(glob: str) -> Iterator[tuple[int, str]]:
    return ((match.start(), match[0]) for match in _SPECIAL.finditer(glob))


def _distinct(globs: Iterator[str] | list[str], glob: str, name: str, at_most: int) -> list[str]:
    """None of the steps makes fewer of them, so the first that makes too many refuses the whole."""
    found = list(dict.fromkeys(globs))
    if len(found) > at_most:
        raise InvalidInput(
            f"{name}: {shown(glob)} stands for more than {at_most} globs.",
            hint="Write one that is wider: src/** is everything below src, *.ts? two endings.",
        )
    return found
