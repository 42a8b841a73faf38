"""Stems English words, and the forms of an Arabic word with and without the article."""

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


# Alone, and behind the words that are written together with it: and, so, by, like, for.
ARTICLES = (
    "\u0627\u0644",
    "\u0648\u0627\u0644",
    "\u0641\u0627\u0644",
    "\u0628\u0627\u0644",
    "\u0643\u0627\u0644",
    "\u0644\u0644",
)
# What is left of a shorter word is rather another word.
LEAST_LETTERS = 2
LEAST_BEHIND_TWO = 3


def with_and_without_article(word: str) -> tuple[str, ...]:
    """The word first; others than Arabic words have this form alone."""
    if not _is_arabic(word):
        return (word,)
    plain = _without_article(word)
    if len(plain) < LEAST_LETTERS or plain.startswith(ARTICLES[0]):
        return (word,)
    return tuple(dict.fromkeys([word, plain, *(f"{article}{plain}" for article in ARTICLES)]))


def _without_article(word: str) -> str:
    for article in ARTICLES:
        least = LEAST_LETTERS if article == ARTICLES[0] else LEAST_BEHIND_TWO
        if word.startswith(article) and len(word) - len(article) >= least:
            return word.removeprefix(article)
    return word


def _is_arabic(word: str) -> bool:
    return not word.isascii() and all(
        "\u0620" <= char <= "\u065f" or "\u066e" <= char <= "\u06d3" for char in word
    )
