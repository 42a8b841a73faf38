"""Stems English words (Snowball), so that `deciding` finds `decided`."""

import threading
from functools import cached_property, lru_cache
from typing import Any


class _Stemmers(threading.local):
    """A stemmer has the current word as its state, so each thread has its own."""

    @cached_property
    def english(self) -> Any:
        import snowballstemmer  # With the first word: it loads the stemmers of all languages.

        return snowballstemmer.stemmer("english")


_stemmers = _Stemmers()


@lru_cache(100_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; words with digits or other scripts are returned unchanged."""
    if not (word.isascii() and word.isalpha()):
        return word
    found: str = _stemmers.english.stemWord(word)
    return found
