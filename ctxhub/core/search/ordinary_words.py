"""English words that spelling correction leaves alone. Source: see ordinary_words.txt."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ctxhub.core.search.abbreviations import KNOWN_ABBREVIATED
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


def forms_like(word: str) -> tuple[str, ...]:
    """What a mistyped word may mean: listed words and those of abbreviations, in all their forms, with its
    first letter, which people seldom miss, and of nearly its length.
    """
    by_length = _forms(word[:1])
    return tuple(form for n in range(len(word) - 2, len(word) + 3) for form in by_length.get(n, ()))


@cache
def _forms(letter: str) -> dict[int, tuple[str, ...]]:
    """By length, the forms of the words that begin with a letter."""
    found: dict[int, dict[str, None]] = {}
    for word in (*listed_words(), *KNOWN_ABBREVIATED):
        if word.startswith(letter):
            for form in _inflected(word):
                found.setdefault(len(form), {})[form] = None
    return {length: tuple(forms) for length, forms in found.items()}


def _inflected(word: str) -> Iterator[str]:
    yield word
    base = f"{word[:-1]}i" if word.endswith("y") else word
    silent = word.removesuffix("e")
    yield from (f"{base}es" if base != word else f"{word}s", f"{silent if base == word else base}ed")
    yield from (f"{silent}ing", f"{silent}er", f"{base}ly")


@cache
def _stems(beginning: str) -> frozenset[str]:
    return frozenset(stem(word) for word in listed_words() if word.startswith(beginning))
