"""English words that spelling correction leaves alone. Source: see ordinary_words.txt."""

from functools import cache
from pathlib import Path

from ctxhub.core.search.stems import stem

_FILE = Path(__file__).with_suffix(".txt")


def is_ordinary(word: str) -> bool:
    """Whether a lower-case word is an ordinary English one, in any of its forms."""
    return stem(word) in _stems()


@cache
def _stems() -> frozenset[str]:
    lines = _FILE.read_text("utf-8").split("\n")
    return frozenset(stem(word) for line in lines if not line.startswith("#") for word in line.split())
