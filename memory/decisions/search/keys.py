"""Splits keys into weighted words, and hashes words into signatures that find similar keys."""

from collections.abc import Sequence
from functools import lru_cache

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.search.abbreviations import long_form, meanings
from ctxhub.core.search.analyser import Piece, fold, pieces, runs
from ctxhub.core.search.documents import named_word

PREFIX = 4  # Signatures use this many letters of a word: auth also matches authentication.
MAX_WORDS = 8  # Longer keys have no signatures with one word omitted.

WeightedWord = tuple[str, float]


@frozen
class KeyWords:
    """The words of a key, each with its weight, and its segments: case-folded, and as they are written.

    The last segment weighs as much as the whole path before it; the weights add up to 1. `exact`: the words
    that no typo and no abbreviation stands for, such as numbers.
    """

    words: tuple[WeightedWord, ...]
    exact: frozenset[str]
    segments: tuple[str, ...]
    written: tuple[str, ...]


@lru_cache(10_000)
def key_words(key: str) -> KeyWords:
    written = tuple(segments_of(key))
    *path, leaf = [_segment_words(segment) for segment in written] or [()]
    path_words = [word for words in path for word in words]
    share = 0.5 if path_words and leaf else 1.0
    weighted = [(word, share / len(words)) for words in (path_words, leaf) for word in words]
    exact = frozenset(word for word, _ in weighted if not (word.isalpha() or meanings(word)))
    return KeyWords(tuple(weighted), exact, tuple(fold(segment) for segment in written), written)


def segments_of(key: str) -> list[str]:
    return [segment for segment in key.split("/") if segment.strip()]


@lru_cache(10_000)
def _segment_words(segment: str) -> tuple[str, ...]:
    found = (_words_of(piece) for run in runs(segment) for piece in pieces(run.group()))
    return tuple(word for words in found for word in words)


def _words_of(piece: Piece) -> Sequence[str]:
    """Return the parts of an identifier; with a number the whole, as the parts omit numbers."""
    if piece.is_dense:
        return piece.words[:-1] or piece.words
    has_number = any(character.isdigit() for character in piece.surface)
    return piece.parts if piece.parts and not has_number else piece.words


@lru_cache(10_000)
def key_signatures(key: str) -> Sequence[str]:
    """Return the index terms of a key: a hash of all its words, in any order, and of all but each one."""
    words = _prefixes(key)
    if not words:
        return []
    return [_signature("W", words), *(_signature("O", subset) for subset in _one_omitted(key, words))]


def similar_signatures(key: str) -> list[str]:
    """Return the signatures of keys with the same words, one word more or one word less."""
    words = _prefixes(key)
    if not words:
        return []
    one_less = (_signature("W", subset) for subset in _one_omitted(key, words))
    return [_signature("W", words), _signature("O", words), *one_less]


def _one_omitted(key: str, words: Sequence[str]) -> list[list[str]]:
    """Return the words without each one in turn, but keep the only word of the last segment."""
    if not 1 < len(words) <= MAX_WORDS:
        return []
    leaf = _prefixes(segments_of(key)[-1])
    kept = leaf[0] if len(leaf) == 1 else None
    return [[word for word in words if word != omitted] for omitted in words if omitted != kept]


def _prefixes(key: str) -> list[str]:
    """Return the distinct words of a key, expanded and cut to a prefix; words with digits stay whole."""
    words = {long_form(word) for word, _ in key_words(key).words}
    return sorted({word[:PREFIX] if word.isalpha() else word for word in words})


def _signature(letter: str, words: Sequence[str]) -> str:
    """Hash words to 25 bits. Collisions are harmless: candidates are compared afterwards."""
    return named_word(letter, " ".join(words), 5)
