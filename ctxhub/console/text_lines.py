"""Wraps text to lines of a width, for SVG drawings, which do not wrap text."""

import unicodedata

NARROW, WIDE = frozenset("iljtfrI.,:;'`|!()[]{}-/\\ "), frozenset("mwMW@%&—…")
BREAKABLE = "/-_:"
MAX_CHARACTERS = 500


def width_of(text: str) -> float:
    """The approximate width of a text in a proportional font, in em."""
    return sum(map(_width, text))


def wrap_text(text: str, width: float, *, lines: int) -> list[str]:
    """The first `lines` lines of a text, broken between words or path segments; a cut ends in an ellipsis.

    `width` is the width of a line in em. Only the first MAX_CHARACTERS are used.
    """
    rest = " ".join(text[:MAX_CHARACTERS].split())
    wrapped: list[str] = []
    while rest and len(wrapped) < lines - 1:
        line = _first_line(rest, width)
        wrapped.append(line)
        rest = rest[len(line) :].lstrip()
    return [*wrapped, _cut(rest, width)] if rest else wrapped


def _first_line(text: str, width: float) -> str:
    """The beginning that fits; breaks inside a word only if the word is longer than a line."""
    fitting = _fitting(text, width)
    if fitting == len(text):
        return text
    end = max(text.rfind(" ", 0, fitting + 1), *(text.rfind(mark, 0, fitting) + 1 for mark in BREAKABLE))
    return text[:end] if end > fitting // 3 else text[:fitting]


def _cut(text: str, width: float) -> str:
    fitting = _fitting(text, width)
    return text if fitting == len(text) else text[: _fitting(text, width - 1)].rstrip() + "…"


def _fitting(text: str, width: float) -> int:
    """How many characters of a text fit into a width; at least one, with its combining characters."""
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
