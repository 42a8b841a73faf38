"""The words of a key: what it is like other keys by, and looked up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ctxhub.core.search.abbreviations import long_form
from ctxhub.core.search.analyser import Piece, fold, pieces, runs
from ctxhub.core.search.documents import named_word

BEGINNING = 4  # By so much of them words are looked up: auth also stands for authentication.
LONG = 8  # The words of a longer key are never all but one those of another.

Weighed = tuple[str, float]


@dataclass(frozen=True, slots=True)
class KeyWords:
    """The words of a key, each with its weight, and its segments.

    What stands behind the last slash weighs as much as the whole path before it; together they weigh 1.
    """

    words: tuple[Weighed, ...]
    segments: tuple[str, ...]


@lru_cache(10_000)
def key_words(key: str) -> KeyWords:
    segments = segments_of(key)
    *path, leaf = [list(_words(segment)) for segment in segments] or [[]]
    before = [word for words in path for word in words]
    share = 0.5 if before and leaf else 1.0
    weighed = [(word, share / len(words)) for words in (before, leaf) for word in words]
    return KeyWords(tuple(weighed), tuple(fold(segment) for segment in segments))


def segments_of(key: str) -> list[str]:
    return [segment for segment in key.split("/") if segment.strip()]


def _words(segment: str) -> Iterator[str]:
    for run in runs(segment):
        for piece in pieces(run.group()):
            yield from _words_of(piece)


def _words_of(piece: Piece) -> Sequence[str]:
    """The parts of an identifier, unless they leave a number out, which may be all that tells two apart."""
    if piece.is_dense:
        return piece.words[:-1] or piece.words
    has_number = any(character.isdigit() for character in piece.surface)
    return piece.parts if piece.parts and not has_number else piece.words


@lru_cache(10_000)
def signs(key: str) -> Sequence[str]:
    """What a decision is looked up by: all the words of its key, in any order, and all but one of them."""
    words = _beginnings(key)
    return [_sign("W", words), *(_sign("O", some) for some in _all_but_one(key, words))] if words else []


def signs_like(key: str) -> list[str]:
    """The signs of keys that have the same words, one more or one less."""
    words = _beginnings(key)
    found = [_sign("W", words), _sign("O", words), *(_sign("W", some) for some in _all_but_one(key, words))]
    return found if words else []


def _all_but_one(key: str, words: Sequence[str]) -> list[list[str]]:
    """Without the last segment's only word another thing is meant."""
    if not 1 < len(words) <= LONG:
        return []
    leaf = _beginnings(segments_of(key)[-1])
    kept = leaf[0] if len(leaf) == 1 else None
    return [[word for word in words if word != other] for other in words if other != kept]


def _beginnings(key: str) -> list[str]:
    """Its different words, written out and cut short; of one with a number every digit counts."""
    words = {long_form(word) for word, _ in key_words(key).words}
    return sorted({word[:BEGINNING] if word.isalpha() else word for word in words})


def _sign(letter: str, words: Sequence[str]) -> str:
    """25 bits: what shares one by chance is compared, and found to be another."""
    return named_word(letter, " ".join(words), 5)
