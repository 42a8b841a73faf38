"""Stems English words (Snowball), so that `deciding` finds `decided`."""

import threading
from functools import cached_property
from typing import Any


class _Stemmers(threading.local):
    """A stemmer has the current word as its state, so each thread has its own."""

    @cached_property
    def english(self) -> Any:
        from Stemmer import Stemmer  # With the first word: an agent that only lists needs none.

        return Stemmer("english", 0)


_stemmers = _Stemmers()


def stem(word: str) -> str:
    """Return the stem of a lower-case word; words with digits or other scripts are returned unchanged."""
    if not (word.isascii() and word.isalpha()):
        return word
    found: str = _stemmers.english.stemWord(word)
    return found
