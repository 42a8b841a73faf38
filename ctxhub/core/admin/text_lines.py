"""Texts broken into lines of a width: drawings break none by themselves."""

import unicodedata

NARROW, WIDE = frozenset("iljtfrI.,:;'`|!()[]{}-/\\ "), frozenset("mwMW@%&—…")
BREAKABLE = "/-_:"
MOST_LOOKED_AT = 500


def width_of(text: str) -> float:
    """About how wide a text is in a proportional font, in times its size."""
    return sum(map(_width, text))


def wrap_text(text: str, width: float, *, lines: int) -> list[str]:
    """The first lines of a text, broken between words or parts of a path; what is left out is an ellipsis.

    `width` is that of a line, in times the size of the font.
    """
    rest = " ".join(text[:MOST_LOOKED_AT].split())
    found: list[str] = []
    while rest and len(found) < lines - 1:
        line = _first_line(rest, width)
        found.append(line)
        rest = rest[len(line) :].lstrip()
    return [*found, _cut(rest, width)] if rest else found


def _first_line(text: str, width: float) -> str:
    """What fits; a word that is longer than a line is broken itself."""
    fitting = _fitting(text, width)
    if fitting == len(text):
        return text
    end = max(text.rfind(" ", 0, fitting + 1), *(text.rfind(mark, 0, fitting) + 1 for mark in BREAKABLE))
    return text[:end] if end > fitting // 3 else text[:fitting]


def _cut(text: str, width: float) -> str:
    fitting = _fitting(text, width)
    return text if fitting == len(text) else text[: _fitting(text, width - 1)].rstrip() + "…"


def _fitting(text: str, width: float) -> int:
    """How many characters of a text fit into a width; at least one, with all that stands on it."""
    used = 0.0
    for position, character in enumerate(text):
        used += _width(character)
        if used > width and position and _width(character):
            return position
    return len(text)


def _width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return 0.0
    if character in NARROW:
        return 0.32
    if character in WIDE:
        return 0.92
    return 0.67 if character.isupper() or character in "<>=+~#" else 0.58
