"""Makes texts whose tokens are hard to estimate, and answers of the hub that contain them."""

import base64
import random
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from ctxhub.core.text.parts import as_json

Maker = Callable[[random.Random, int], str]

CORPUS = Path(__file__).parent / "corpus"
LENGTHS = (3, 10, 30, 100, 300, 1_000)
# One in so many texts is long.
SELDOM, LONG = 50, 5_000
SENTENCES = (
    "يجب إعادة تشغيل قاعدة البيانات قبل كل عملية ترحيل وإلا فقدت السجلات. ",
    "प्रत्येक स्थानांतरण से पहले डेटाबेस को पुनः आरंभ करना आवश्यक है, अन्यथा अभिलेख खो जाएंगे। ",
    "ต้องเริ่มฐานข้อมูลใหม่ก่อนการย้ายทุกครั้ง มิฉะนั้นบันทึกจะสูญหาย ",
    "יש להפעיל מחדש את מסד הנתונים לפני כל העברה. ",
    "Η βάση δεδομένων πρέπει να επανεκκινείται πριν από κάθε μεταφορά. ",
    "先讀合約；再挑一個別人沒有的工作，因為衝突正是該由人來看一眼的時候。",
    "数据库查询的次数应该有上限，并且在测试里写明。",
    "👨‍👩‍👧‍👦👩🏽‍🚀🏳️‍🌈🇩🇪🇯🇵❤️‍🔥✊🏿",
    "« Bonjour » «oui» ‹non› „ja“ “yes” ‘no’ — – … • · § ",
    'fn main() { let x: Vec<&str> = s.split("\\n").collect(); println!("{x:?}"); }\n',
    "SELECT count(*) FROM t WHERE a <> 'x' AND b::jsonb @> '{\"k\": [1, 2]}';\n",
    '{"a":[1,2,{"b":null,"c":"d\\"e"}],"f":-1.5e-7,"g":[[],{}]}',
)
CYRILLIC = "".join(map(chr, range(0x430, 0x450))) + " "
ACCENTED = "abcdeéèàüöäßñçøåæœ ÉÜ"
CONTROLS = [*map(chr, range(32)), "\x7f", "\x85", "\u2028", "\u2029", "\ufeff", "a", " "]
ESCAPES = ["\\n", '\\"', "\\\\", "\\t", '"', "\n", "\u2028", "\\u2028", "a", "foo", " ", "'"]
SPACES = [" ", "  ", "    ", "\t", "\n", "\r\n", "\u3000", "\xa0", "x", "{"]
NAMES = ["get", "Set", "HTTP", "Foo", "user", "ID", "2", "_", "x"]
JOINERS = ["\u200d", "\ufe0f", *map(chr, range(0x1F1E6, 0x1F200)), *map(chr, range(0x1F300, 0x1F340))]


def of(characters: Sequence[str]) -> Maker:
    return lambda chance, length: "".join(chance.choices(characters, k=length))


def of_range(first: int, last: int) -> Maker:
    return lambda chance, length: "".join(chr(chance.randrange(first, last)) for _ in range(length))


def _words(chance: random.Random, length: int) -> str:
    letters = of(string.ascii_lowercase)
    return " ".join(letters(chance, chance.randrange(1, 12)) for _ in range(length // 6 + 1))


def _repeated_word(chance: random.Random, length: int) -> str:
    return f" {of(string.ascii_lowercase)(chance, chance.randrange(2, 14))}" * (length // 8 + 1)


def _hex(chance: random.Random, length: int) -> str:
    return chance.randbytes(length // 2 + 1).hex()


def _uuids(chance: random.Random, length: int) -> str:
    return ",".join(str(UUID(int=chance.getrandbits(128))) for _ in range(length // 37 + 1))


def _base64(chance: random.Random, length: int) -> str:
    encode = chance.choice([base64.b64encode, base64.urlsafe_b64encode])
    return encode(chance.randbytes(length * 3 // 4 + 1)).decode()


def _sentence(chance: random.Random, length: int) -> str:
    sentence = chance.choice(SENTENCES)
    return _part(chance, sentence * (length // len(sentence) + 2), length)


def _corpus(chance: random.Random, length: int) -> str:
    return _part(chance, chance.choice(corpus()), length)


def _part(chance: random.Random, text: str, length: int) -> str:
    start = chance.randrange(max(len(text) - length, 1))
    return text[start : start + length]


@cache
def corpus() -> Sequence[str]:
    return [path.read_bytes().decode() for path in sorted(CORPUS.glob("*.txt"))]


def _mixed(chance: random.Random, length: int) -> str:
    kinds, parts = list(KINDS.values()), [""]
    while sum(map(len, parts)) < length:
        parts += [chance.choice(kinds)(chance, chance.randrange(1, 30)), chance.choice(["", " ", "\n", ": "])]
    return "".join(parts)


KINDS: Mapping[str, Maker] = {
    "corpus": _corpus,
    "sentences": _sentence,
    "words": _words,
    "a word": _repeated_word,
    "lower case": of(string.ascii_lowercase),
    "letters": of(string.ascii_letters),
    "names": of(NAMES),
    "hex": _hex,
    "uuids": _uuids,
    "base64": _base64,
    "signs": of(string.punctuation),
    "printable": of(string.printable),
    "controls": of(CONTROLS),
    "escapes": of(ESCAPES),
    "quotes": of("\"'«» ,:[]a\\"),
    "digits": of("0123456789.,-: "),
    "spaces": of(SPACES),
    "accented": of(ACCENTED),
    "Cyrillic": of(CYRILLIC),
    "Chinese": of_range(0x4E00, 0x9FFF),
    "two bytes": of_range(0x80, 0x800),
    "three bytes": of_range(0x800, 0xD800),
    "four bytes": of_range(0x10000, 0x20000),
    "emoji": of(JOINERS),
}


def _item(text: str) -> dict[str, Any]:
    return {"found": True, "key": "a", "value": text}


def _two_rows(text: str) -> dict[str, Any]:
    half = len(text) // 2
    rows = [["decision:a/b@v1", text[:half]], ["memory:12", text[half:]]]
    return {"columns": ["ref", "text"], "rows": rows}


def _rows_of_words(text: str) -> dict[str, Any]:
    words = text.split(" ")
    return {"rows": [words[at : at + 4] for at in range(0, len(words), 4)]}


def _rows_of_parts(text: str) -> dict[str, Any]:
    size = len(text) % 8 + 1
    return {"rows": [text[at : at + size] for at in range(0, len(text), size)]}


FORMS = (_item, _two_rows, _rows_of_words, _rows_of_parts)


def hostile_answers(count: int, seed: int) -> Iterator[str]:
    """Answers as they are sent."""
    chance, makers = random.Random(seed), [*KINDS.values(), _mixed]
    for number in range(count):
        length = chance.choice(LENGTHS) if number % SELDOM else LONG
        yield as_json(chance.choice(FORMS)(chance.choice(makers)(chance, length)))
