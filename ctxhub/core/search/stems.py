"""English words cut to their stems (Snowball), so that `deciding` finds `decided`."""

import threading
from functools import lru_cache

import snowballstemmer


class _Stemmers(threading.local):
    """A stemmer holds the word it works on, so each thread has its own."""

    def __init__(self) -> None:
        self.english = snowballstemmer.stemmer("english")


_stemmers = _Stemmers()


@lru_cache(100_000)
def stem(word: str) -> str:
    """The stem of a lower-case word; one with digits or letters of another script stays as it is."""
    if not (word.isascii() and word.isalpha()):
        return word
    found: str = _stemmers.english.stemWord(word)
    return found
