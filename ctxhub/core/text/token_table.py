"""A table of the more frequent tokens of o200k, with their ranks: which two pieces are merged before others.

The file beside this module has all tokens of rank below 6,000 in order; then others, below 45,000, in five
levels of rank; all characters that are a token; and what a character of several tokens may begin with.
`benchmarks/token_table.py` writes it; docs/decisions/0008 says from what.

The groups stay texts, since 34,000 entries of a dict would take ten times the memory.
"""

import zlib
from functools import cache
from pathlib import Path

from ctxhub.core.kit.frozen import frozen

FILE = Path(__file__).with_suffix(".bin")
SECTION, GROUP, LEVEL, SEPARATOR = "\x1c", "\x1d", "\x1e", "\x1f"
# Above every rank of the table.
NO_RANK = 1_000_000
FIRST_LEVEL = 100_000


@frozen
class TokenTable:
    ranks: dict[str, int]
    groups: dict[str, str]
    characters: str
    beginnings: frozenset[bytes]

    def rank(self, piece: str) -> int:
        """The rank of a piece of several characters, lower where it is merged earlier; NO_RANK: no token."""
        if (found := self.ranks.get(piece)) is not None:
            return found
        prefix = prefix_of(piece)
        if not (group := self.groups.get(prefix)):
            return NO_RANK
        at = group.find(f"{SEPARATOR}{piece[len(prefix) :]}{SEPARATOR}")
        return NO_RANK if at < 0 else FIRST_LEVEL + group.count(LEVEL, 0, at)

    def tokens_of_character(self, char: str) -> int:
        """The most tokens of a character alone: its bytes, less those that begin it as one token."""
        if char < "\x80" or char in self.characters:
            return 1
        data = char.encode("utf-8", "surrogatepass")
        begun = next((size for size in (3, 2) if data[:size] in self.beginnings), 1)
        return len(data) - begun + 1


def prefix_of(token: str) -> str:
    """What the tokens of a group begin with: a blank and two characters, or two others."""
    return token[:3] if token[0] == " " else token[:2]


@cache
def token_table() -> TokenTable:
    """Read at the first count of a text, in 4 ms."""
    ranked, characters, beginnings, groups = zlib.decompress(FILE.read_bytes()).decode().split(SECTION)
    return TokenTable(
        {token: rank for rank, token in enumerate(ranked.split(SEPARATOR))},
        dict(group.split(SEPARATOR, 1) for group in groups.split(GROUP)),
        characters,
        frozenset(beginning.encode("latin-1") for beginning in beginnings.split(SEPARATOR)),
    )
