"""Characters that nobody sees: which names may not hold, which are ordinary writing, and their marks."""

import sys
import unicodedata

import pytest

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_agent, clean_name, clean_path, clean_title, clean_words
from ctxhub.core.text.invisible import described, invisible_places, marked, strip_invisible, without_invisible

pytestmark = pytest.mark.one_engine

FORBIDDEN = ("Cc", "Cf", "Zl", "Zp")
ORDINARY = [
    "api/auth/method",
    "می‌خواهم",  # Persian: a joiner that keeps letters apart.
    "क्‍ष",  # Devanagari, and Sinhala: one that joins them.
    "ශ්‍රී",
    "👨‍👩‍👧",
    "❤️ and 1️⃣",
    "🧑🏽‍💻",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # The flag of England.
    "🏴‍☠️",
    "日本語",
    "\ue0b0 main",  # Private use: fonts of terminals.
]
INVISIBLE = {
    "\u200b": "U+200B ZERO WIDTH SPACE",
    "\ufeff": "U+FEFF ZERO WIDTH NO-BREAK SPACE",
    "\u2060": "U+2060 WORD JOINER",
    "\u00ad": "U+00AD SOFT HYPHEN",
    "\u202e": "U+202E RIGHT-TO-LEFT OVERRIDE",
    "\u2066": "U+2066 LEFT-TO-RIGHT ISOLATE",
    "\u200f": "U+200F RIGHT-TO-LEFT MARK",
    "\u061c": "U+061C ARABIC LETTER MARK",
    "\u2028": "U+2028 LINE SEPARATOR",
    "\u200d": "U+200D ZERO WIDTH JOINER",
    "\u200c": "U+200C ZERO WIDTH NON-JOINER",
    "\ufe0f": "U+FE0F VARIATION SELECTOR-16",
    "\u3164": "U+3164 HANGUL FILLER",
    "\u2800": "U+2800 BRAILLE PATTERN BLANK",
    "\U000e0061": "U+E0061 TAG LATIN SMALL LETTER A",
    "\uffff": "U+FFFF",
    "\n": "U+000A (a line break)",
    "\t": "U+0009 (a tab)",
    "\x85": "U+0085 (a line break)",
    "\x1b": "U+001B",
}
invisible = pytest.mark.parametrize("character", INVISIBLE, ids=INVISIBLE.get)


def test_the_table_holds_every_control_format_and_separator_of_unicode() -> None:
    found = [
        f"U+{code:04X}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in FORBIDDEN and not invisible_places(f"a{chr(code)}a")
    ]
    assert found == []


def test_it_holds_no_letter_digit_or_sign_but_those_drawn_as_nothing() -> None:
    found = {
        unicodedata.name(chr(code)).split(" SELECTOR")[0]
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code))[0] in "LMNPSZ"
        and unicodedata.category(chr(code)) not in FORBIDDEN
        and invisible_places(f"a{chr(code)}a")
    }
    assert found == {
        *("COMBINING GRAPHEME JOINER", "HANGUL CHOSEONG FILLER", "HANGUL JUNGSEONG FILLER", "HANGUL FILLER"),
        *("HALFWIDTH HANGUL FILLER", "KHMER VOWEL INHERENT AQ", "KHMER VOWEL INHERENT AA", "VARIATION"),
        *("MONGOLIAN FREE VARIATION", "BRAILLE PATTERN BLANK"),
    }


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_writing_stays(name: str) -> None:
    assert clean_name(name, "key") == name
    assert clean_words([name], "tags") == [name]
    assert clean_path(name, "path") == name
    assert marked(name) == name


@invisible
def test_at_the_ends_of_a_name_it_is_removed(character: str) -> None:
    for name in (f"zw/key{character}", f"{character}zw/key", f"{character} zw/key {character} {character}"):
        assert clean_name(name, "key") == "zw/key"
        assert clean_words([name], "tags") == ["zw/key"]
        assert clean_path(name, "path") == "zw/key"
        assert clean_agent(name) == "zw/key"


@invisible
def test_inside_a_name_it_is_refused_by_its_own_name_and_place(character: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        clean_name(f"zw{character}/key", "key")
    code = described(character).split()[0]
    assert refused.value.message == (
        f"key holds {INVISIBLE[character]} at character 2: 'zw⟦{code}⟧/key'. "
        "A name holds no character that nobody sees."
    )


@invisible
def test_a_name_of_nothing_else_is_blank(character: str) -> None:
    with pytest.raises(InvalidInput, match="key must not be blank"):
        clean_name(f" {character}{character}", "key")


@pytest.mark.parametrize(
    "name", ["be\u200dn", "ben\u200d", "b\u200cen", "ა\u200cბ", "日\u200d本", "1\u200d2"]
)
def test_a_joiner_joins_only_where_scripts_do(name: str) -> None:
    """Elsewhere two names would look the same."""
    assert invisible_places(name)


@pytest.mark.parametrize(
    "name", ["👩\u200d", "\u200d👩", "👩\u200d\u200d👩", "a\ufe0f", "1\ufe0f", "🏴\U000e0067"]
)
def test_a_part_of_an_emoji_alone_is_no_emoji(name: str) -> None:
    assert invisible_places(f"x{name}x")


@pytest.mark.parametrize("blank", ["\u00a0", "\u202f", "\u2003", "\u3000", "\u1680"])
def test_a_blank_of_another_width_is_a_plain_one_but_in_a_path(blank: str) -> None:
    assert clean_name(f"a{blank}b{blank}", "key") == "a b"
    assert clean_path(f"a{blank}b.py{blank}", "path") == f"a{blank}b.py"


def test_a_title_is_never_refused_for_them() -> None:
    """It names nothing: a line break becomes a blank, and the rest is left out."""
    written = "Why\u200b we\n cache\tso\u202e much\u00ad"
    assert clean_title(written, "title", at_most=100) == "Why we cache so much"
    assert clean_title("Nichts\u3000Neues", "title", at_most=100) == "Nichts Neues"


def test_text_without_them_keeps_its_blanks() -> None:
    assert without_invisible("a  b\u3000c") == "a  b\u3000c"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay\u202e1000\u202c\n\tnow", "pay⟦U+202E⟧1000⟦U+202C⟧\n\tnow"),
        ("a\u200bb\x1b[0m", "a⟦U+200B⟧b⟦U+001B⟧[0m"),
        ("plain – text", "plain – text"),
    ],
)
def test_a_text_is_shown_with_marks(text: str, shown: str) -> None:
    assert marked(text) == shown


def test_what_is_stripped_ends_with_what_is_seen() -> None:
    assert strip_invisible(" \u200b❤️\u200b ") == "❤️"
