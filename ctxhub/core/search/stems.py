"""Stems English words (Snowball), so that `deciding` finds `decided`."""

import threading
from functools import lru_cache


class _Stemmers(threading.local):
    """A stemmer has the current word as its state, so each thread has its own."""

    def __init__(self) -> None:
        import snowballstemmer  # With the first word: it loads the stemmers of all languages.

        self.english = snowballstemmer.stemmer("english")


_stemmers = _Stemmers()


@lru_cache(100_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; words with digits or other scripts are returned unchanged."""
    if not (word.isascii() and word.isalpha()):
        return word
    found: str = _stemmers.english.stemWord(word)
    return found
