"""Writes `ctxhub/core/text/token_table.bin`: `python -m benchmarks.token_table`.

From the vocabulary o200k_base, as the package `bpe_openai` of the extra `dev` brings it; the number of a
token is its rank. The vocabulary is OpenAI's, published with tiktoken under the MIT licence: see
docs/decisions/0008.
"""

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ctxhub.core.text.token_table import FILE, GROUP, LEVEL, SECTION, SEPARATOR, prefix_of

TOKENS = 199_998
# The ranks below which tokens are stored in order, and the rank below which others are stored by level.
IN_ORDER, STORED = 6_000, 45_000
LEVELS = 5
CONTROLS = frozenset(SECTION + GROUP + LEVEL + SEPARATOR)


def table() -> bytes:
    vocabulary = _vocabulary()
    ranks = {text: rank for rank, token in enumerate(vocabulary) if (text := _text(token))}
    texts = [text for text in ranks if len(text) > 1 and _is_stored(text)]
    in_order = [text for text in texts if ranks[text] < IN_ORDER]
    later = {
        text: (rank - IN_ORDER) * LEVELS // (STORED - IN_ORDER)
        for text in texts
        if IN_ORDER <= (rank := ranks[text]) < STORED
    }
    characters = sorted(text for text in ranks if len(text) == 1 and not text.isascii())
    sections = (SEPARATOR.join(in_order), "".join(characters), _beginnings(vocabulary), _groups(later))
    return zlib.compress(SECTION.join(sections).encode(), 9)


def _vocabulary() -> Sequence[bytes]:
    import bpe_openai

    encoding = bpe_openai.get_encoding("o200k_base")
    return [encoding.decode_bytes([number]) for number in range(TOKENS)]


def _text(token: bytes) -> str:
    """The token as text; "" if it is a part of a character."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return ""


def _is_stored(text: str) -> bool:
    """Without digits, always a token by three, and spaces outside ASCII, of which a word takes the last."""
    is_rule = text.isdigit() if text.isascii() else text.isspace()
    return not is_rule and not CONTROLS & {*text}


def _beginnings(vocabulary: Iterable[bytes]) -> str:
    """The tokens of several bytes with which a character begins."""
    return SEPARATOR.join(token.decode("latin-1") for token in sorted(filter(_begins_one, vocabulary)))


def _begins_one(token: bytes) -> bool:
    if len(token) not in {2, 3} or _text(token):
        return False
    return token[0] >= 0xC2 and all(0x80 <= byte < 0xC0 for byte in token[1:])


def _groups(levels: Mapping[str, int]) -> str:
    groups: dict[str, list[list[str]]] = defaultdict(lambda: [[] for _ in range(LEVELS)])
    for text, level in levels.items():
        prefix = prefix_of(text)
        groups[prefix][level].append(text[len(prefix) :])
    joined = {prefix: LEVEL.join(map(_entries, group)) for prefix, group in groups.items()}
    return GROUP.join(f"{prefix}{SEPARATOR}{entries}" for prefix, entries in sorted(joined.items()))


def _entries(rests: Iterable[str]) -> str:
    """Each between two separators."""
    return "".join(f"{SEPARATOR}{rest}" for rest in sorted(rests)) + SEPARATOR


if __name__ == "__main__":
    FILE.write_bytes(table())
