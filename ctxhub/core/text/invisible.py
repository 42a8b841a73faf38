"""Characters that nobody sees: which of them a name may hold, and marks that show them.

What a name must not hold are the controls, formats, line and paragraph separators of Unicode (general
categories Cc, Cf, Zl, Zp: UnicodeData.txt), the other characters that are drawn as nothing
(Default_Ignorable_Code_Point: DerivedCoreProperties.txt), the blank of Braille, and noncharacters. The ranges
below are those of Unicode 17, a superset of what the `unicodedata` of older Pythons knows.

Three uses of them are ordinary writing, and stay: joiners between letters of scripts that join (Persian,
those of India; elsewhere they only make look-alikes), the parts of an emoji (Extended_Pictographic:
emoji-data.txt), and the tags of a flag (RGI_Emoji_Tag_Sequence: emoji-sequences.txt).
"""

import re
import unicodedata
from collections.abc import Set

_INVISIBLE = (
    "\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
) + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))
# Arabic to Myanmar, Philippine to Balinese and Vedic, Indic and Arabic supplements and presentation forms.
_JOINING = (
    "\u0600-\u109f\u1700-\u1c7f\u1cd0-\u1cff\ua800-\ua95f\ua980-\uab2f\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
_PICTOGRAPHS = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_WRITING = (
    f"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    f"|(?<=[{_PICTOGRAPHS}\ufe0f\u20e3\U000e007f])\u200d(?=[{_PICTOGRAPHS}])"
    f"|(?<=[{_PICTOGRAPHS}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    "|(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
)
# For a pattern of SQL, which holds no NUL: these characters, ordinary writing included.
RANGES = _INVISIBLE.replace("\x00-", "\x01-")
_ALL = re.compile(f"[{_INVISIBLE}]")
_NOT_WRITING = re.compile(f"{_WRITING}|([{_INVISIBLE}])")
_MARKED = re.compile(f"{_WRITING}|([{_INVISIBLE}])".replace("\x00-\x1f", "\x00-\x08\x0b\x0e-\x1f"))
_BLANK = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
# Controls have no names in the Unicode Character Database; these are their aliases (NameAliases.txt).
_CONTROLS = {"\t": "a tab", "\n": "a line break", "\r": "a line break", "\x85": "a line break"}


def invisible_places(text: str) -> list[int]:
    """The places of the characters that a name must not hold, from 0."""
    if text.isprintable() and text.isascii():
        return []
    return [match.start() for match in _NOT_WRITING.finditer(text) if match[1]]


def strip_invisible(text: str) -> str:
    """The text without blanks and characters that nobody sees at its ends."""
    places = frozenset(invisible_places(text))
    start, end = 0, len(text)
    while start < end and _is_nothing(text, start, places):
        start += 1
    while start < end and _is_nothing(text, end - 1, places):
        end -= 1
    return text[start:end]


def without_invisible(text: str) -> str:
    """The text without characters that nobody sees; those that break or space a line become a blank."""
    places = frozenset(invisible_places(text))
    if not places:
        return text
    kept = (
        " " if character.isspace() else "" if place in places else character
        for place, character in enumerate(text)
    )
    return " ".join("".join(kept).split())


def bare(text: str) -> str:
    """The text without any of these characters, not even those of ordinary writing: what it looks like."""
    return text if text.isascii() and text.isprintable() else _ALL.sub("", text)


def with_plain_blanks(text: str) -> str:
    """The text with U+0020 in place of blanks that look like it, such as U+00A0."""
    return text if text.isascii() else _BLANK.sub(" ", text)


def described(character: str) -> str:
    """A character for an error message: `U+200B ZERO WIDTH SPACE`."""
    name = _CONTROLS.get(character) or unicodedata.name(character, "")
    code = f"U+{ord(character):04X}"
    return f"{code} ({name})" if character in _CONTROLS else f"{code} {name}".rstrip()


def marked(text: str) -> str:
    """The text with `⟦U+202E⟧` in place of each character that nobody sees, but for tabs and line breaks."""
    return text if text.isascii() and text.isprintable() else _MARKED.sub(_mark, text)


def marked_all(name: str) -> str:
    """Like `marked`, with tabs and line breaks: for a name, which holds none."""
    return _NOT_WRITING.sub(_mark, name)


def _mark(match: re.Match[str]) -> str:
    return f"⟦U+{ord(match[1]):04X}⟧" if match[1] else match[0]


def _is_nothing(text: str, place: int, invisible: Set[int]) -> bool:
    return text[place].isspace() or place in invisible
