"""English words that spelling correction leaves alone. Source: see ordinary_words.txt."""

from functools import cache
from pathlib import Path

from ctxhub.core.search.stems import stem

_FILE = Path(__file__).with_suffix(".txt")
# Each stem begins with so many letters of its word: only words that may match are stemmed, not all 5,000.
_SAME_LETTERS = 2


def is_ordinary(word: str) -> bool:
    """Whether a lower-case word is an ordinary English one, in any of its forms."""
    stemmed = stem(word)
    return stemmed in _stems(stemmed[:_SAME_LETTERS])


@cache
def listed_words() -> tuple[str, ...]:
    lines = _FILE.read_text("utf-8").split("\n")
    return tuple(word for line in lines if not line.startswith("#") for word in line.split())


@cache
def _stems(beginning: str) -> frozenset[str]:
    return frozenset(stem(word) for word in listed_words() if word.startswith(beginning))
